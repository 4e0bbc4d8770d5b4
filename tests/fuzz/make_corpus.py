#!/usr/bin/env python3
"""Makes small programs for plan_fuzz of programs that bring their inputs and expected results.

usage: make_corpus.py FROM... TO     each FROM is a folder of .mlir, .mlirbc or .bc files, or a file

Of StableHLO's own tests the inputs become arguments, what compares goes, and comments too: so most
are a few hundred bytes. Others are copied as they are. Files over 16 KB are left out. What is in TO already stays.
"""

import pathlib
import re
import sys

MOST_BYTES = 16 << 10


def members(types: str) -> list[str]:
    """The types between commas that stand in no brackets."""
    found, depth, word = [], 0, ""
    for c in types:
        depth += (c in "<({") - (c in ">)}")
        if c == "," and depth == 0:
            found.append(word.strip())
            word = ""
        else:
            word += c
    return [t for t in [*found, word.strip()] if t]


def shortened(text: str) -> str:
    """The program without inputs, checks and comments of its own."""
    text = "".join(line for line in text.splitlines(True) if not line.lstrip().startswith("//"))
    call = re.search(r"^ *%(\w+)(?::\d+)? = call @inputs\(\) : \(\) -> (.*)\n", text, re.M)
    expected = re.search(r"^ *%(\w+)(?::\d+)? = call @expected\(\).*\n", text, re.M)
    if call is None or expected is None:
        return text
    name, types = call.group(1), call.group(2).strip()
    types = members(types[1:-1] if types.startswith("(") else types)
    text = text.replace(call.group(0), "").replace(expected.group(0), "")
    text = re.sub(r"^ *stablehlo\.custom_call @check\..*\n", "", text, flags=re.M)
    for function in ("inputs", "expected"):
        text = re.sub(rf"^  func\.func private @{function}\(\).*?^  }}\n", "", text, flags=re.M | re.S)
    if len(types) == 1:
        text = re.sub(rf"%{name}\b", "%in0", text)
    else:
        text = re.sub(rf"%{name}#(\d+)", r"%in\1", text)
    arguments = ", ".join(f"%in{i}: {type_}" for i, type_ in enumerate(types))
    return text.replace("@main()", f"@main({arguments})", 1)


def main() -> int:
    *sources, to = map(pathlib.Path, sys.argv[1:])
    if not sources:
        print(__doc__, file=sys.stderr)
        return 2
    to.mkdir(parents=True, exist_ok=True)
    files = [f for s in sources for f in ([s] if s.is_file() else sorted(s.rglob("*")))]
    made = 0
    for file in files:
        if file.suffix not in (".mlir", ".mlirbc", ".bc"):
            continue
        data = file.read_bytes()
        if file.suffix == ".mlir":
            data = shortened(data.decode()).encode()
        if len(data) <= MOST_BYTES:
            (to / file.name).write_bytes(data)
            made += 1
    print(f"{made} of {len(files)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
