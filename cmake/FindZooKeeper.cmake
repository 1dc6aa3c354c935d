# The ZooKeeper C client, multi-threaded (Debian: libzookeeper-mt-dev), which has neither a pkg-config nor a CMake file.
# Defines the target ZooKeeper::zookeeper_mt; THREADED makes the header show what the library has.
find_path(ZooKeeper_INCLUDE_DIR zookeeper/zookeeper.h)
find_library(ZooKeeper_LIBRARY zookeeper_mt)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper REQUIRED_VARS ZooKeeper_LIBRARY ZooKeeper_INCLUDE_DIR)
if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::zookeeper_mt)
  add_library(ZooKeeper::zookeeper_mt UNKNOWN IMPORTED)
  set_target_properties(ZooKeeper::zookeeper_mt PROPERTIES
    IMPORTED_LOCATION ${ZooKeeper_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR};${ZooKeeper_INCLUDE_DIR}/zookeeper"
    INTERFACE_COMPILE_DEFINITIONS THREADED)
endif()
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY)
