# shellcheck shell=bash
# Free loopback ports, chosen once per stack and kept in .stack/ports.

# Below the range from which the kernel gives ports to outgoing connections.
PORT_FIRST=20000
PORT_COUNT=12000

# Whether something listens on it.
port_in_use() { # PORT
  local hex
  printf -v hex ':%04X' "$1"
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
    awk -v port="$hex" '$4 == "0A" && substr($2, length($2) - 4) == port { found = 1 }
      END { exit !found }'
}

port_of() { # NAME
  cat "$STATE_DIR/ports/$1" 2>/dev/null
}

address_of() { # NAME
  echo "$STACK_HOST:$(port_of "$1")"
}

# Prints the port of NAME; picks one when it has none yet.
pick_port() { # NAME
  local name=$1 port try
  if port=$(port_of "$name"); then
    echo "$port"
    return 0
  fi
  mkdir -p "$STATE_DIR/ports"
  for ((try = 0; try < 200; try++)); do
    port=$((PORT_FIRST + (RANDOM * 32768 + RANDOM) % PORT_COUNT))
    if ! port_in_use "$port" && ! grep -qsx "$port" "$STATE_DIR"/ports/*; then
      echo "$port" >"$STATE_DIR/ports/$name"
      echo "$port"
      return 0
    fi
  done
  die "no free port found between $PORT_FIRST and $((PORT_FIRST + PORT_COUNT))"
}

# Forgets those chosen ports that something else took while the stack was down.
forget_taken_ports() {
  local file
  for file in "$STATE_DIR"/ports/*; do
    [[ -f $file ]] || continue
    ! port_in_use "$(cat "$file")" || rm -f "$file"
  done
}
