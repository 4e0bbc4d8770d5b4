#!/usr/bin/env bash
# Installs packages in a folder of their own, upgrades them and purges them: nothing is left, and no file belongs to two.
# usage: try_packages.sh FILE.deb...
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/root/var/lib/dpkg/info" "$folder/root/var/lib/dpkg/updates" "$folder/newer"
touch "$folder/root/var/lib/dpkg/status"
# What the packages depend on is not there; their own files are what this is about.
in_root() { dpkg --root="$folder/root" --force-depends --force-not-root --force-script-chrootless --log=/dev/null "$@"; }
files() { find "$folder/root" -path "$folder/root/var/lib/dpkg" -prune -o ! -type d -print | sed "s|^$folder/root||" | sort; }

names=()
for package in "$@"; do
  names+=("$(dpkg-deb -f "$package" Package)")
  dpkg-deb -R "$package" "$folder/unpacked"
  sed -i 's/^Version: .*/&+newer/' "$folder/unpacked/DEBIAN/control"
  dpkg-deb --root-owner-group -b "$folder/unpacked" "$folder/newer/${names[-1]}.deb" > /dev/null
  rm -rf "$folder/unpacked"
done
in_root -i "$@" > "$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
before="$(files)"
in_root -i "$folder"/newer/*.deb > "$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
[[ "$before" == "$(files)" ]] || { echo "an upgrade to the same files has others:"; diff <(echo "$before") <(files); exit 1; }
in_root -P "${names[@]}" > "$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
left="$(files)"
[[ -z "$left" ]] || { echo "purged packages leave: $left" >&2; exit 1; }
echo "${#names[@]} packages: $(wc -l <<< "$before") files installed, upgraded, purged; nothing is left"
