#!/usr/bin/env python3
"""What tools/dev/exported_symbols.py takes for a symbol of an installed header, and what not."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools', 'dev'))
import exported_symbols  # noqa: E402

HEADER = """
#define OPEN {
#define CHECK(x) \
  check_failed(x)  // {
namespace millrace {
class Forward;
enum class Kind { kOne, kTwo };
template <class T>
class Box {
 public:
  void put(T t);
};
extern template class Box<1>;
class alignas(64) Runtime final : public Base<int> {
 public:
  Runtime();
  int devices() const { return helper_of_inline(); }
  Result<int> find(const Other& other);
  std::string name() const;
  virtual void close();
  struct Inner {
    int count() const;
  };
  struct Core;  // private
 private:
  int helper_of_inline() const;
  int helper_of_source() const;
  virtual int on_stop() = 0;
  static const Runtime* current_;
  static const Runtime* last() { return current_; }
  Mutex mutex_ MILLRACE_GUARDED_BY(other_){"}"};
};
inline int twice(int x) { return 2 * x; }
Result<std::map<int, int>> find_all(const Options& options = {});
std::string operator+(const Runtime& a, int b);
extern int counter;
namespace detail {
void help(char c = '{');
}
}  // namespace millrace
"""


INCLUDED = """
namespace millrace {
class Link {
 public:
  Link();
  ~Link();
  void send(int bytes);
  void start();
  virtual void drop();
  bool operator==(const Link& other) const;
};
void connect(Link& link);
void check_failed(bool);
inline void begin(Link& link) { link.start(); }
}  // namespace millrace
"""


class ExportedSymbolsTest(unittest.TestCase):
    def setUp(self):
        self.names = exported_symbols.Declared()
        self.names.read(HEADER)
        self.names.read(INCLUDED, public=False)

    def expect(self, demangled, public, weak=False):
        self.assertEqual(self.names.has(demangled, weak), public, demangled)

    def test_members_of_a_class_with_a_body_are_public(self):
        self.expect('millrace::Runtime::Runtime()', True)
        self.expect('millrace::Runtime::devices() const', True)
        self.expect('millrace::Runtime::find(std::vector<millrace::Other, std::allocator<int> > const&)', True)
        self.expect('millrace::Runtime::name[abi:cxx11]() const', True)
        self.expect('millrace::Runtime::operator bool() const', True)
        self.expect('millrace::Runtime::Inner::count() const', True)
        self.expect('millrace::Runtime::current_', True)

    def test_what_a_header_only_names_is_not(self):
        self.expect('millrace::Runtime::Core::make()', False)
        self.expect('millrace::Forward::call()', False)
        self.expect('millrace::Other::call(millrace::Runtime const&)', False)
        self.expect('millrace::other(millrace::Runtime::Inner)', False)

    def test_what_is_private_is_exported_where_an_inline_function_may_call_it(self):
        self.expect('millrace::Runtime::helper_of_inline() const', True)
        self.expect('millrace::Runtime::helper_of_source() const', False)
        self.expect('millrace::Runtime::on_stop()', True)  # by tables of classes that users derive

    def test_of_headers_that_public_ones_include_as_well(self):
        self.expect('millrace::Link::start()', True)
        self.expect('millrace::Link::send(int)', False)
        self.expect('millrace::connect(millrace::Link&)', False)
        self.expect('millrace::check_failed(bool)', True)  # by a macro
        for called_without_its_name in ('Link()', '~Link()', 'drop()', 'operator==(millrace::Link const&) const'):
            self.expect('millrace::Link::' + called_without_its_name, True)

    def test_tables_of_classes_are_public(self):
        self.expect('typeinfo for millrace::Runtime', True, weak=True)
        self.expect('typeinfo for millrace::Box<3>', False, weak=True)
        self.expect('vtable for millrace::Runtime', True)
        self.expect('typeinfo name for millrace::Runtime::Inner', True)
        self.expect('vtable for millrace::Forward', False)
        self.expect('virtual thunk to millrace::Runtime::close()', True)

    def test_functions_and_variables_of_namespaces_are_public(self):
        self.expect('millrace::find_all(millrace::Options const&)', True)
        self.expect('millrace::operator+(millrace::Runtime const&, int)', True)
        self.expect('millrace::counter', True)
        self.expect('millrace::detail::help(char)', True)
        self.expect('millrace::helper(char)', False)

    def test_what_users_instantiate_themselves_is_not_but_for_what_we_promise_to(self):
        self.expect('millrace::Runtime::devices() const', False, weak=True)
        self.expect('millrace::Box<1>::put(int)', True, weak=True)
        self.expect('millrace::Box<1>::Lid::~Lid()', True, weak=True)

    def test_what_has_no_name_outside_is_not(self):
        self.expect('millrace::Runtime::run()::{lambda()#1}::operator()() const', False)
        self.expect('millrace::(anonymous namespace)::find_all(int)', False)


if __name__ == '__main__':
    unittest.main()
