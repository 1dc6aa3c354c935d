# docker build --build-arg KRO_REVISION="$(git rev-parse --short HEAD)" -t kafka-reassignment-operator:0.1.0 .
FROM debian:12 AS build
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      g++ cmake ninja-build pkg-config \
      libcpprest-dev libzookeeper-mt-dev prometheus-cpp-dev nlohmann-json3-dev libexpected-dev libspdlog-dev \
      libcli11-dev libyaml-cpp-dev libcpp-httplib-dev libssl-dev libboost-dev libboost-system-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake cmake
COPY operator operator
ARG KRO_REVISION=unknown
# The preset's compiler cache would be empty here, and is not installed.
RUN cmake --preset release -DCMAKE_CXX_COMPILER_LAUNCHER= -DKRO_REVISION="$KRO_REVISION" \
 && cmake --build --preset release \
 && strip build/release/bin/kafka-reassignment-*

FROM debian:12-slim
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates libcpprest2.10 libzookeeper-mt2 libprometheus-cpp-core1.0 libspdlog1.10 libfmt9 libyaml-cpp0.7 \
      libcpp-httplib0.11 libssl3 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/build/release/bin/ /usr/local/bin/
# A library that is missing shows here, not in the cluster.
RUN for program in /usr/local/bin/*; do "$program" --version; done
USER 65532:65532
EXPOSE 8080 8081
CMD ["kafka-reassignment-operator", "--help"]
