// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import Bluetooth

@Suite("Connections to controllers", .timeLimit(.minutes(Patience.minutes)))
struct DescriptorStreamTests {
  private func unavailable(_ address: String) async throws -> String {
    let address = try RadioAddress(address)
    do throws(BluetoothError) {
      let stream = try await address.open()
      stream.close()
      return "opened"
    } catch {
      #expect(error.code == .unavailable)
      return error.description
    }
  }

  /// Reads until `count` bytes have arrived or the stream ends.
  private func bytes(_ count: Int, from stream: any ByteStream) async -> [UInt8] {
    var all: [UInt8] = []
    for await bytes in stream.received {
      all += bytes
      if all.count >= count { break }
    }
    return all
  }

  @Test("A TCP connection carries bytes in both directions and ends with the other side")
  func tcp() async throws {
    let listener = try Listener()
    let stream = try await RadioAddress.tcp(host: "127.0.0.1", port: listener.port).open()
    let peer = try listener.accept()
    try stream.send([1, 3, 12, 0])
    #expect(try peer.read(4) == [1, 3, 12, 0])
    try peer.write([4, 14, 4])
    #expect(await bytes(3, from: stream) == [4, 14, 4])
    peer.close()
    for await _ in stream.received {}
    stream.close()
    try await Patience.until { (try? stream.send([1])) == nil }
    #expect((try? stream.send([1])) == nil)
  }

  @Test("The end of a connection is noticed also after reads that had to wait")
  func end() async throws {
    for _ in 0..<100 {
      var pair: [Int32] = [0, 0]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
      _ = fcntl(pair[0], F_SETFL, O_NONBLOCK)
      let stream = DescriptorStream(descriptor: pair[0])
      let peer = PeerFile(descriptor: pair[1])
      try peer.write([1])
      #expect(await bytes(1, from: stream) == [1])
      peer.close()
      for await _ in stream.received {}
    }
  }

  @Test("A serial port carries all 256 bytes unchanged in both directions")
  func serial() async throws {
    let terminal = try PseudoTerminal()
    let address = RadioAddress.serial(path: terminal.path, speed: 115_200)
    let stream = try await address.open()
    let all = (0...255).map { UInt8($0) }
    try stream.send(all)
    #expect(try terminal.file.read(256) == all)
    try terminal.file.write(all)
    #expect(await bytes(256, from: stream) == all)
    terminal.file.close()
    for await _ in stream.received {}
    stream.close()
  }

  @Test("A controller that sends faster than it is read is closed")
  func flood() async throws {
    let listener = try Listener()
    let stream = try await RadioAddress.tcp(host: "127.0.0.1", port: listener.port).open()
    let peer = try listener.accept()
    // Each read takes at most this many bytes, so the queue is full before all of it has arrived.
    let piece = [UInt8](repeating: 0x55, count: BluetoothLimit.readBytesMax)
    var pieces = 0
    while (try? peer.write(piece)) != nil, pieces < 100 * BluetoothLimit.waitingReadsMax {
      pieces += 1
    }
    #expect(pieces < 100 * BluetoothLimit.waitingReadsMax)
    var reads = 0
    for await _ in stream.received { reads += 1 }
    #expect(reads == BluetoothLimit.waitingReadsMax)
    peer.close()
  }

  @Test("An address without a controller is reported with its reason and the next step")
  func unavailableAddresses() async throws {
    let closed = try Listener(isListening: false)
    #expect(
      try await unavailable("hci:127.0.0.1:\(closed.port)")
        .contains("connection refused): check that it"))
    withExtendedLifetime(closed) {}
    #expect(try await unavailable("hci:/dev/no-such-port").contains("no such file or directory)"))
    #expect(try await unavailable("hci:/dev/null").contains("check that it is a serial port"))
    #expect(try await unavailable("hci:name.invalid:1").contains("could not be resolved"))
    #expect(try await unavailable("hci:user:65534").contains("hci65534 could not be opened ("))
  }
}

/// A descriptor that the test reads and writes, blocking.
struct PeerFile {
  let descriptor: Int32

  func read(_ count: Int) throws -> [UInt8] {
    var all: [UInt8] = []
    while all.count < count {
      var buffer = [UInt8](repeating: 0, count: count - all.count)
      let got = Foundation.read(descriptor, &buffer, buffer.count)
      guard got > 0 else { throw POSIXError(.EIO) }
      all += buffer.prefix(got)
    }
    return all
  }

  func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = Array(rest).withUnsafeBytes { buffer in
        let sent = Foundation.send(
          descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
        guard sent < 0, errno == ENOTSOCK else { return sent }
        return Foundation.write(descriptor, buffer.baseAddress, buffer.count)
      }
      guard sent > 0 else { throw POSIXError(.EPIPE) }
      rest = rest.dropFirst(sent)
    }
  }

  func close() { _ = Foundation.close(descriptor) }
}

/// A TCP listener on a free port of 127.0.0.1.
final class Listener {
  let port: UInt16
  private let descriptor: Int32

  /// - Parameter isListening: False to keep the port and refuse connections.
  init(isListening: Bool = true) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, size) == 0
          && (!isListening || listen(descriptor, 1) == 0)
          && getsockname(descriptor, address, &size) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    guard status else { throw POSIXError(.EADDRINUSE) }
  }

  func accept() throws -> PeerFile {
    let peer = Foundation.accept(descriptor, nil, nil)
    guard peer >= 0 else { throw POSIXError(.ECONNABORTED) }
    return PeerFile(descriptor: peer)
  }

  deinit { close(descriptor) }
}

/// A pseudoterminal: a serial port whose other end the test holds.
struct PseudoTerminal {
  let file: PeerFile
  let path: String

  /// The requests of the Linux terminal driver that unlock the other end and return its number.
  private static let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

  init() throws {
    let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (lock, number): (Int32, Int32) = (0, 0)
    guard descriptor >= 0, ioctl(descriptor, Self.unlock, &lock) == 0,
      ioctl(descriptor, Self.number, &number) == 0
    else { throw POSIXError(.ENXIO) }
    file = PeerFile(descriptor: descriptor)
    path = "/dev/pts/\(number)"
  }
}
