# Starts one hook event of the plugin with a real Python. Sourced under /bin/sh by hooks.json:
#     set -- EVENT; . "${CLAUDE_PLUGIN_ROOT}/hooks/launch.sh"
# The fast path starts no process but the interpreter: a pyenv or asdf shim costs four interpreter
# starts, so the real path is looked for once and remembered in $bh_keep/python.
bh_root=$CLAUDE_PLUGIN_ROOT
bh_event=$1 bh_keep= bh_py= bh_rc= bh_seen=
# Only absolute folders: a relative one would land in the project that the agent works on.
case $CLAUDE_PLUGIN_DATA:$XDG_CACHE_HOME:$HOME in
  /*) bh_keep=$CLAUDE_PLUGIN_DATA ;;
  :/*) bh_keep=$XDG_CACHE_HOME/brainhooks ;;
  ::/* | :[!/]*:/*) bh_keep=${HOME%/}/.cache/brainhooks ;;
esac
if [ -n "$bh_keep" ] && [ -r "$bh_keep/python" ]; then IFS= read -r bh_py < "$bh_keep/python"; fi
case $bh_py in /* | none) ;; *) bh_py= ;; esac # a relative name would be run from the project

# Python cannot write its bytecode beside a read-only clone; without any it starts twice as slow.
set -- -I -S "$bh_root/hooks/__main__.py" "$bh_event"
if [ -n "$bh_keep" ] && ! [ -w "$bh_root/hooks" ]; then set -- -X "pycache_prefix=$bh_keep/pyc" "$@"; fi

if [ "$bh_py" != none ] && [ -f "$bh_py" ] && [ -x "$bh_py" ]; then
  [ "$bh_event" = SessionStart ] || exec "$bh_py" "$@"
  # A session's first event is where a remembered interpreter that no longer starts (a lost shared
  # library, a removed standard library) is noticed: it waits for the child instead of becoming it.
  "$bh_py" "$@" && exit 0
  bh_rc=$?
elif [ "$bh_py" = none ] && [ "$bh_event" != SessionStart ]; then
  exit 0 # this session was told already; the next start looks again
fi

# Prints the interpreter's real path, or exits 3 (too old) or 4 (built without sqlite3).
bh_probe='import sys
if sys.version_info < (3, 11): sys.exit(3)
try:
    import sqlite3
except ImportError:
    sys.exit(4)
import os
base = getattr(sys, "_base_executable", "") or sys.executable
os.write(1, os.fsencode(os.path.realpath(base)) + b"\n")'

# Puts into bh_real the real interpreter behind candidate $1, if it can run the hooks. The path that
# it names is asked again, because only what starts by itself may be remembered.
bh_try() {
  bh_real=$("$1" -I -S -c "$bh_probe" </dev/null 2>/dev/null)
  case $? in
    3) bh_seen="; $1 is too old" ;;
    4) bh_seen="; $1 was built without sqlite3" ;;
  esac
  case $bh_real in
    /*) [ "$("$bh_real" -I -S -c "$bh_probe" </dev/null 2>/dev/null)" = "$bh_real" ] ;;
    *) return 1 ;;
  esac
}

# Tries one file; Apple's /usr/bin/python3 opens a dialog where the developer tools are missing.
bh_file() {
  [ -f "$1" ] && [ -x "$1" ] || return 1
  if [ "$1" = /usr/bin/python3 ] && [ -d /System/Library/CoreServices ]; then
    [ -d /Library/Developer/CommandLineTools ] || [ -d /Applications/Xcode.app ] || return 1
  fi
  bh_try "$1"
}

# Looks through PATH and the usual folders, newest version first, the plain name last.
bh_find() {
  bh_real= bh_path=$PATH:/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin
  bh_path=$bh_path:/opt/local/bin${HOME:+:$HOME/.local/bin:$HOME/.pyenv/shims}
  for bh_name in python3.14 python3.13 python3.12 python3.11 python3; do
    bh_rest=$bh_path:
    while [ -n "$bh_rest" ]; do
      bh_folder=${bh_rest%%:*} bh_rest=${bh_rest#*:}
      case $bh_folder in /*) bh_file "$bh_folder/$bh_name" && return 0 ;; esac
    done
  done
  bh_real=none
  return 1
}

# Written aside and renamed: events start in parallel and must never read half a path.
bh_remember() {
  [ -n "$bh_keep" ] || return 0
  (umask 077 && mkdir -p "$bh_keep" && printf '%s\n' "$bh_real" > "$bh_keep/python.$$" &&
    mv -f "$bh_keep/python.$$" "$bh_keep/python") 2>/dev/null
}

if [ -n "$bh_rc" ] && bh_try "$bh_py"; then exit 1; fi # it starts, so the failure was the hook's own
if bh_find; then
  bh_remember
  exec "$bh_real" "$@"
fi
bh_remember
[ "$bh_event" = SessionStart ] || exit 0
case $bh_seen in *[!-A-Za-z0-9\ \;./_+]*) bh_seen= ;; esac # what follows must stay JSON
printf '{"systemMessage":"brainhooks: no Python 3.11 or newer with sqlite3 was found%s. Nothing is remembered in this session. Install one (Debian, Ubuntu: apt install python3; macOS: brew install python) and start a new session."}\n' "$bh_seen"
exit 0
