# shellcheck shell=bash
# Starts and stops the stack's processes. A process is known by its pid, its
# start time and the boot it belongs to, so that a reused pid is never signalled.

STARTING=         # set while a process runs that has no pid file yet
STARTED_NOW=()    # what this call started, to be ended when it fails
STACK_LOCK_FD=    # held while a call changes the stack

log_file() { echo "$STATE_DIR/log/$1.log"; }
pid_file() { echo "$STATE_DIR/run/$1.pid"; }

# Fields of /proc/PID/stat after the name, which may hold blanks: state is the
# first of them, the start time (in ticks since boot) the twentieth.
process_start_time() { # PID
  local stat fields
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  read -ra fields <<<"${stat##*) }"
  [[ ${fields[0]} != Z ]] || return 1
  echo "${fields[19]}"
}

boot_id() { cat /proc/sys/kernel/random/boot_id; }

# Prints the pid if the process that we started under this name still runs.
process_pid() { # NAME
  local pid start boot
  read -r pid start boot 2>/dev/null <"$(pid_file "$1")" || return 1
  [[ $boot == "$(boot_id)" && $start == "$(process_start_time "$pid")" ]] || return 1
  echo "$pid"
}

process_alive() { process_pid "$1" >/dev/null; }

start_process() { # NAME COMMAND...
  local name=$1 pid start
  shift
  mkdir -p "$STATE_DIR/run" "$STATE_DIR/log"
  STARTING=1
  # Own session: a Ctrl-C meant for a later command must not reach it. The
  # shell has background commands ignore SIGINT; that is undone.
  setsid env --default-signal=INT,QUIT "$@" \
    >>"$(log_file "$name")" 2>&1 </dev/null {STACK_LOCK_FD}>&- &
  pid=$!
  start=$(process_start_time "$pid") || start=gone
  printf '%s %s %s\n' "$pid" "$start" "$(boot_id)" >"$(pid_file "$name")"
  STARTED_NOW+=("$name")
  STARTING=
}

signal_process() { # NAME SIGNAL
  local pid
  pid=$(process_pid "$1") || return 0
  kill -s "$2" "$pid" 2>/dev/null || true
}

stop_process() { # NAME [SIGNAL]
  local name=$1 signal=${2:-TERM} waited=0
  if process_alive "$name"; then
    signal_process "$name" "$signal"
    while process_alive "$name"; do
      sleep 0.1
      waited=$((waited + 1))
      if ((waited == 150)); then
        say "$name did not end within 15 s of SIG$signal; killing it"
        signal_process "$name" KILL
      elif ((waited > 300)); then
        die "$name does not end; see $(pid_file "$name") for its pid."
      fi
    done
  fi
  rm -f "$(pid_file "$name")"
}

# Ends what this call started, newest first; also one caught between its start
# and its pid file.
stop_started_now() {
  local i
  [[ -z $STARTING ]] || kill -s KILL "$!" 2>/dev/null || true
  for ((i = ${#STARTED_NOW[@]} - 1; i >= 0; i--)); do
    stop_process "${STARTED_NOW[i]}"
  done
  STARTED_NOW=()
}

# Waits until `health_of PART` succeeds; dies with the log's end if the process
# ends before or the time is over.
wait_healthy() { # PART SECONDS
  local part=$1 limit=$2 begin=$SECONDS told=$SECONDS why
  until health_of "$part"; do
    if ! process_alive "$part"; then
      why="$part ended while starting"
    elif ((SECONDS - begin >= limit)); then
      why="$part was not ready within $limit s"
    else
      if ((SECONDS - told >= 10)); then
        say "  waiting for $part ... $((SECONDS - begin)) s"
        told=$SECONDS
      fi
      sleep 0.1
      continue
    fi
    say "---- last lines of $(log_file "$part")"
    tail -n 15 "$(log_file "$part")" >&2 || true
    say "----"
    die "$why; see $(log_file "$part")."
  done
}

lock_stack() {
  mkdir -p "$STATE_DIR"
  chmod 700 "$STATE_DIR"
  exec {STACK_LOCK_FD}>"$STATE_DIR/lock"
  flock -n "$STACK_LOCK_FD" && return 0
  say "waiting for another call that is changing this stack"
  flock "$STACK_LOCK_FD"
}
