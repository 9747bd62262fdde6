// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport

/// The writes, syncs, renames and sends of a process in their order, recorded by a small library that is compiled
/// for the test and preloaded.
struct SyncLog {
  struct Event {
    enum Kind: String { case write, sync, rename, send }

    let kind: Kind
    let path: String
    /// The new name of a renamed file.
    var to = ""
  }

  static let isAvailable = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .contains { FileManager.default.isExecutableFile(atPath: "\($0)/cc") }
  static let absence = "needs a C compiler, cc"

  /// The environment of a recorded process.
  let environment: [String: String]
  private let file: URL

  init(in folder: TemporaryFolder) async throws {
    let (source, library) = (folder.path("watch.c"), folder.path("watch.so"))
    file = folder.path("events")
    try Data(Self.source.utf8).write(to: source)
    try Data().write(to: file)
    let run = try await Shell.run(
      "cc -O1 -shared -fPIC -o '\(library.path)' '\(source.path)' -ldl")
    guard run.status == 0 else { throw CocoaError(.executableLoad) }
    environment = ["LD_PRELOAD": library.path, "FIREBREAK_TEST_EVENTS": file.path]
  }

  func events() throws -> [Event] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
      let words = line.split(separator: "\t").map(String.init)
      return Event.Kind(rawValue: words.first ?? "").map {
        Event(kind: $0, path: words[1], to: words.count > 2 ? words[2] : "")
      }
    }
  }

  /// Writes and syncs are recorded after they are done, sends to a socket before.
  private static let source = #"""
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/socket.h>
    #include <sys/syscall.h>
    #include <sys/uio.h>
    #include <unistd.h>

    static int events = -1;

    __attribute__((constructor)) static void begin(void) {
      const char *path = getenv("FIREBREAK_TEST_EVENTS");
      int flags = O_WRONLY | O_APPEND | O_CLOEXEC;
      if (path) events = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
    }

    static void tell(const char *kind, const char *path, const char *to) {
      char line[9000];
      int size = snprintf(line, sizeof line, "%s\t%s\t%s\n", kind, path, to);
      if (events >= 0 && size > 0) (void)syscall(SYS_write, events, line, (size_t)size);
    }

    /* The path of a file or socket; returns 0 for other descriptors. */
    static int name(int file, char *path, size_t size) {
      char link[64];
      snprintf(link, sizeof link, "/proc/self/fd/%d", file);
      ssize_t length = readlink(link, path, size - 1);
      path[length > 0 ? length : 0] = 0;
      return path[0] == '/' || strncmp(path, "socket:", 7) == 0;
    }

    static void sending(int file) {
      char path[4096];
      if (name(file, path, sizeof path) && path[0] != '/') tell("send", path, "");
    }

    static void done(const char *kind, int file) {
      char path[4096];
      int error = errno;
      if (name(file, path, sizeof path) && path[0] == '/') tell(kind, path, "");
      errno = error;
    }

    #define WATCHED(call, parameters, arguments)               \
      ssize_t call parameters {                                \
        static ssize_t(*real) parameters;                      \
        if (!real) real = dlsym(RTLD_NEXT, #call);             \
        sending(file);                                         \
        ssize_t result = real arguments;                       \
        if (result > 0) done("write", file);                   \
        return result;                                         \
      }
    WATCHED(write, (int file, const void *bytes, size_t size), (file, bytes, size))
    WATCHED(pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
    WATCHED(pwrite64, (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at))
    WATCHED(writev, (int file, const struct iovec *parts, int count), (file, parts, count))
    WATCHED(send, (int file, const void *bytes, size_t size, int flags), (file, bytes, size, flags))
    WATCHED(sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags))

    #define SYNCED(call)                                       \
      int call(int file) {                                     \
        static int (*real)(int);                               \
        if (!real) real = dlsym(RTLD_NEXT, #call);             \
        int result = real(file);                               \
        if (result == 0) done("sync", file);                   \
        return result;                                         \
      }
    SYNCED(fsync)
    SYNCED(fdatasync)

    int rename(const char *from, const char *to) {
      static int (*real)(const char *, const char *);
      if (!real) real = dlsym(RTLD_NEXT, "rename");
      int result = real(from, to);
      if (result == 0) tell("rename", from, to);
      return result;
    }
    """#
}
