# shellcheck shell=bash
# ZooKeeper and the Kafka brokers, started from their jars.

KAFKA_CHROOT=/kafka
BROKER_HEAP=512m # the most, not the usual: thousands of partitions in a test need it
BROKER_SESSION_MS=3000

# The archive of loaded classes is valid only for this exact class path.
kafka_class_path() {
  local jars=("$(kafka_lib_dir)"/*.jar)
  local IFS=:
  echo "${jars[*]}"
}

kafka_archive() {
  local java
  java=$(java -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java\.vm\.version = *//p' | tr -c 'A-Za-z0-9.\n' _)
  echo "$(part_dir kafka)/classes-java-$java.jsa"
}

# Sets JAVA_COMMAND: java with the flags for small and fast processes.
set_java_command() { # HEAP
  JAVA_COMMAND=(java "-Xmx$1" -Xms32m -Xss512k -XX:+UseSerialGC -XX:TieredStopAtLevel=1
    -XX:ReservedCodeCacheSize=64m -Djava.awt.headless=true
    "-Dlog4j.configuration=file:$STATE_DIR/conf/log4j.properties")
  local archive
  archive=$(kafka_archive)
  if [[ -f $archive ]]; then
    JAVA_COMMAND+=("-XX:SharedArchiveFile=$archive" -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off)
  fi
}

broker_count() { cat "$STATE_DIR/brokers" 2>/dev/null || echo 0; }

write_log4j() {
  mkdir -p "$STATE_DIR/conf"
  cat >"$STATE_DIR/conf/log4j.properties" <<'CONF'
log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=%d{ISO8601} %p %m (%c)%n
log4j.logger.state.change.logger=WARN
log4j.logger.org.apache.zookeeper=WARN
CONF
  cat >"$STATE_DIR/conf/tools-log4j.properties" <<'CONF'
log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%p %m (%c)%n
CONF
}

write_zookeeper_config() {
  pick_port zookeeper >/dev/null
  cat >"$STATE_DIR/conf/zoo.cfg" <<CONF
tickTime=500
minSessionTimeout=1000
maxSessionTimeout=60000
dataDir=$STATE_DIR/data/zookeeper
clientPort=$(port_of zookeeper)
clientPortAddress=$STACK_HOST
admin.enableServer=false
4lw.commands.whitelist=*
maxClientCnxns=0
CONF
}

write_broker_config() { # ID
  pick_port "broker-$1" >/dev/null
  cat >"$STATE_DIR/conf/broker-$1.properties" <<CONF
broker.id=$1
listeners=PLAINTEXT://$(address_of "broker-$1")
zookeeper.connect=$(address_of zookeeper)$KAFKA_CHROOT
zookeeper.session.timeout.ms=$BROKER_SESSION_MS
log.dirs=$STATE_DIR/data/broker-$1
num.network.threads=1
num.io.threads=2
background.threads=1
queued.max.requests=16
log.cleaner.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
controlled.shutdown.enable=false
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
CONF
}

start_zookeeper() {
  write_log4j
  write_zookeeper_config
  set_java_command 128m
  start_process zookeeper "${JAVA_COMMAND[@]}" -Dzookeeper.forceSync=no \
    -cp "$(kafka_class_path)" org.apache.zookeeper.server.ZooKeeperServerMain \
    "$STATE_DIR/conf/zoo.cfg"
}

broker_registered() { # ID
  zookeeper_word dump | grep "$KAFKA_CHROOT/brokers/ids/$1\$" >/dev/null
}

# A broker that was killed stays registered until its session is over, and a
# second one with its id would end at once.
await_deregistration() { # ID
  local tries=0
  while ((tries < 100)) && broker_registered "$1"; do
    tries=$((tries + 1))
    sleep 0.1
  done
}

start_broker() { # ID
  await_deregistration "$1"
  write_broker_config "$1"
  set_java_command "$BROKER_HEAP"
  start_process "broker-$1" "${JAVA_COMMAND[@]}" ${BROKER_JAVA_FLAG:+"$BROKER_JAVA_FLAG"} \
    -cp "$(kafka_class_path)" kafka.Kafka "$STATE_DIR/conf/broker-$1.properties"
}

zookeeper_word() { # FOUR-LETTER-WORD
  # shellcheck disable=SC2016 # expanded by the inner shell
  timeout 3 bash -c 'exec 3<>"/dev/tcp/$1/$2" && printf %s "$3" >&3 && cat <&3' \
    - "$STACK_HOST" "$(port_of zookeeper)" "$1" 2>/dev/null
}

health_zookeeper() {
  zookeeper_word srvr | grep '^Mode:' >/dev/null
}

# Asks a broker for its metadata and prints how many brokers it knows: a
# Metadata request of version 1 without topics; the count follows the size and
# the correlation id.
brokers_known_to() { # ID
  local answer
  # shellcheck disable=SC2016 # expanded by the inner shell
  answer=$(timeout 3 bash -c 'exec 3<>"/dev/tcp/$1/$2" &&
    printf "\0\0\0\16\0\3\0\1\0\0\0\1\377\377\0\0\0\0" >&3 && head -c 12 <&3 | od -An -v -tu1' \
    - "$STACK_HOST" "$(port_of "broker-$1")" 2>/dev/null) || return 1
  read -ra answer <<<"$answer"
  ((${#answer[@]} == 12)) || return 1
  echo $((answer[8] * 16777216 + answer[9] * 65536 + answer[10] * 256 + answer[11]))
}

# Healthy: registered in ZooKeeper, and it knows every broker that runs.
health_broker() { # ID
  local id running=0 known
  for ((id = 1; id <= $(broker_count); id++)); do
    process_alive "broker-$id" && running=$((running + 1))
  done
  known=$(brokers_known_to "$1") || return 1
  ((known >= running)) && broker_registered "$1"
}

# Without the archive all works, only slower.
ensure_kafka_archive() {
  local log=$STATE_DIR/log/kafka-archive.log
  [[ ! -f $(kafka_archive) ]] || return 0
  run_with_progress "  making the archive of Kafka's classes for faster starts (once, about 10 s)" \
    "$log" bash "$REPO_DIR/hack/stack/make-archive.sh" ||
    say "  no archive could be made (see $log); Kafka will start slower"
}

run_kafka_tool() { # TOOL ARGS...
  local tool=$1 class bootstrap i args=()
  shift
  bootstrap=$(bootstrap_servers)
  case $tool in
    topics) class=org.apache.kafka.tools.TopicCommand ;;
    reassign) class=org.apache.kafka.tools.reassign.ReassignPartitionsCommand ;;
    configs) class=kafka.admin.ConfigCommand ;;
    producer-perf) class=org.apache.kafka.tools.ProducerPerformance ;;
    *) die "unknown Kafka tool '$tool'; there are topics, reassign, configs and producer-perf." ;;
  esac
  if [[ $tool != producer-perf ]]; then
    args=(--bootstrap-server "$bootstrap" "$@")
  else # takes its servers among the producer's properties
    args=("$@")
    for i in "${!args[@]}"; do
      if [[ ${args[i]} == --producer-props ]]; then
        args=("${args[@]:0:i+1}" "bootstrap.servers=$bootstrap" "${args[@]:i+1}")
        bootstrap=
        break
      fi
    done
    [[ -z $bootstrap ]] || args+=(--producer-props "bootstrap.servers=$bootstrap")
  fi
  set_java_command 256m
  exec "${JAVA_COMMAND[@]}" "-Dlog4j.configuration=file:$STATE_DIR/conf/tools-log4j.properties" \
    -cp "$(kafka_class_path)" "$class" "${args[@]}"
}

bootstrap_servers() {
  local id list=
  for ((id = 1; id <= $(broker_count); id++)); do
    list+=${list:+,}$(address_of "broker-$id")
  done
  echo "$list"
}
