# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 -m atwalk [SOURCE]: a shell with the source as src."""

import sys

import atwalk


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] == ["--help"]:
        print("Usage: python3 -m atwalk [SOURCE]", file=sys.stderr)
        return 0 if sys.argv[1:2] == ["--help"] else 2
    names = {"atwalk": atwalk}
    banner = "atwalk %s" % atwalk.__version__
    if len(sys.argv) == 2:
        try:
            names["src"] = atwalk.open(sys.argv[1])
        except atwalk.Error as e:
            print("atwalk: %s" % e, file=sys.stderr)
            if e.hint:
                print("        %s" % e.hint, file=sys.stderr)
            return e.exit_status
        banner += ": src is %r" % names["src"]
    try:
        import IPython
    except ImportError:
        pass
    else:
        print(banner)
        IPython.start_ipython(argv=["--no-banner"], user_ns=names)
        return 0
    import code
    try:
        import readline
        import rlcompleter
        readline.set_completer(rlcompleter.Completer(names).complete)
        readline.parse_and_bind("tab: complete")
    except ImportError:
        pass
    code.interact(banner=banner, local=names, exitmsg="")
    return 0


sys.exit(main())
