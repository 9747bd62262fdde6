@preconcurrency import Dispatch
import Foundation
import Synchronization

/// An open connection to a controller.
protocol ByteStream: Sendable {
  /// The received bytes in their order. It ends with the connection, and has one reader.
  var received: AsyncStream<[UInt8]> { get }

  /// Sends one packet. At most one command is on its way, so a connection that does not accept a packet
  /// at once has failed.
  func send(_ packet: [UInt8]) throws(BluetoothError)

  /// Closes the connection, which ends `received`. What was sent is still delivered.
  func close()
}

/// Opens the connection to a controller, as often as the radio needs it.
protocol ControllerPort: Sendable {
  /// - Throws: `BluetoothError.unavailable`
  func open() async throws(BluetoothError) -> any ByteStream
}

/// A connection over a file descriptor: a socket or a serial port. It lives until it is closed or fails.
final class DescriptorStream: ByteStream {
  let received: AsyncStream<[UInt8]>
  /// The descriptor; nil once it is closed.
  private let descriptor: Mutex<Int32?>
  private let source: any DispatchSourceRead

  /// Takes over `descriptor`, which must not block, and closes it at the end.
  init(descriptor: Int32) {
    let (received, arrivals) = AsyncStream.makeStream(
      of: [UInt8].self, bufferingPolicy: .bufferingOldest(BluetoothLimit.waitingReadsMax))
    self.received = received
    self.descriptor = Mutex(descriptor)
    // The queue is serial, so the reads keep their order.
    let queue = DispatchQueue(label: "firebreak.bluetooth")
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [weak self] in
      if Self.forward(descriptor, to: arrivals) == .end { self?.close() }
    }
    source.setCancelHandler { [self] in
      self.descriptor.withLock { $0 = nil }
      Foundation.close(descriptor)
      arrivals.finish()
    }
    source.resume()
  }

  func send(_ packet: [UInt8]) throws(BluetoothError) {
    let isSent = descriptor.withLock { descriptor in
      guard let descriptor else { return false }
      return Self.write(packet, to: descriptor)
    }
    guard isSent else { throw .disconnected }
  }

  func close() {
    source.cancel()
  }
}

extension DescriptorStream {
  private enum Progress {
    case more, end
  }

  /// Forwards everything that can be read now.
  private static func forward(
    _ descriptor: Int32, to arrivals: AsyncStream<[UInt8]>.Continuation
  ) -> Progress {
    while true {
      var (result, code) = (0, Int32(0))
      let bytes = [UInt8](unsafeUninitializedCapacity: BluetoothLimit.readBytesMax) {
        result = read(descriptor, $0.baseAddress, $0.count)
        code = errno
        $1 = max(0, result)
      }
      // At the end of the stream, `errno` still has the value of an earlier call.
      guard result > 0 else { return result < 0 && [EAGAIN, EINTR].contains(code) ? .more : .end }
      // A reader that is this far behind could not find the start of the next packet after a gap.
      guard case .enqueued = arrivals.yield(bytes) else { return .end }
    }
  }

  /// Returns `false` unless the whole packet was accepted at once.
  private static func write(_ packet: [UInt8], to descriptor: Int32) -> Bool {
    while true {
      // A socket whose peer is gone must not raise SIGPIPE; a serial port is no socket.
      var count = Foundation.send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL))
      if count < 0, errno == ENOTSOCK {
        count = Foundation.write(descriptor, packet, packet.count)
      }
      if count < 0, errno == EINTR { continue }
      return count == packet.count
    }
  }
}
