// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Single messages to a Unix domain socket, such as those of syslog and systemd. Each is delivered as a whole or not at
/// all.
package enum UnixDatagram {
  /// The time for which a send waits while the queue of the receiver is full, in seconds.
  package static let waitSecondsMax = 2

  /// Sends `message` to the socket at `address`.
  ///
  /// - Throws: `UnixSocketError` if no socket receives there, the message is too long, or the receiver does not read.
  package static func send(
    _ message: some Collection<UInt8>, to address: UnixAddress
  ) throws(UnixSocketError) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw UnixSocketError(errno) }
    defer { close(descriptor) }
    var wait = timeval(tv_sec: waitSecondsMax, tv_usec: 0)
    let length = socklen_t(MemoryLayout.size(ofValue: wait))
    guard setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, length) == 0 else {
      throw UnixSocketError(errno)
    }
    let bytes = Array(message)
    let error = try address.withSocketAddress { pointer, length -> Int32 in
      let sent = sendto(
        descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, length)
      return sent == bytes.count ? 0 : errno
    }
    if error != 0 { throw UnixSocketError(error) }
  }
}
