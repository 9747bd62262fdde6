// SPDX-License-Identifier: Apache-2.0
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

extension RadioAddress: ControllerPort {
  func open() async throws(BluetoothError) -> any ByteStream {
    switch self {
    case .tcp(let host, let port): try await TCPConnection.open(host: host, port: port)
    case .serial(let path, let speed): try SerialPort.open(path, speed: speed)
    case .userChannel(let number): try UserChannel.open(number)
    }
  }
}

/// A TCP connection to a controller, with a deadline for opening it.
enum TCPConnection {
  /// Connects to the first address of `host` that accepts.
  ///
  /// - Throws: `BluetoothError.unavailable`
  static func open(host: String, port: UInt16) async throws(BluetoothError) -> DescriptorStream {
    // Resolving a name and connecting block their thread.
    let result = await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .utility).async {
        continuation.resume(returning: connect(host: host, port: port))
      }
    }
    switch result {
    case .success(let descriptor): return DescriptorStream(descriptor: descriptor)
    case .failure(let error): throw error
    }
  }

  private static func connect(host: String, port: UInt16) -> Result<Int32, BluetoothError> {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    guard status == 0 else {
      let reason = String(cString: gai_strerror(status)).lowercased()
      return .failure(.unavailable("\(host) could not be resolved (\(reason)): check the name"))
    }
    defer { freeaddrinfo(found) }
    var code = ECONNREFUSED
    for address in sequence(first: found, next: { $0?.pointee.ai_next }).compactMap({ $0 }) {
      switch connect(to: address.pointee) {
      case .success(let descriptor): return .success(descriptor)
      case .failure(let error): code = error.code.rawValue
      }
    }
    return .failure(
      .unavailable(
        "the controller at \(host):\(port) could not be reached (\(reason(code))): check that it runs and the address"
      ))
  }

  private static func connect(to address: addrinfo) -> Result<Int32, POSIXError> {
    let type = address.ai_socktype | O_NONBLOCK | O_CLOEXEC
    let descriptor = socket(address.ai_family, type, address.ai_protocol)
    guard descriptor >= 0 else { return .failure(POSIXError(errno)) }
    var code: Int32 = 0
    if Foundation.connect(descriptor, address.ai_addr, address.ai_addrlen) != 0 {
      code = errno == EINPROGRESS ? outcome(of: descriptor) : errno
    }
    guard code == 0 else {
      close(descriptor)
      return .failure(POSIXError(code))
    }
    // A command is one small packet that must not wait for the next one.
    var on: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout.size(ofValue: on)))
    return .success(descriptor)
  }

  /// Waits for the end of a connection attempt and returns its value of `errno`, 0 on success.
  private static func outcome(of descriptor: Int32) -> Int32 {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    let milliseconds = Int32(BluetoothLimit.connectSeconds * 1_000)
    switch poll(&entry, 1, milliseconds) {
    case 0: return ETIMEDOUT
    case let count where count < 0: return errno
    default: break
    }
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout.size(ofValue: code))
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { return errno }
    return code
  }
}

/// A serial port with eight data bits, no parity, one stop bit and hardware flow control, as the
/// specification requires for H4.
private enum SerialPort {
  static func open(_ path: String, speed: UInt32) throws(BluetoothError) -> DescriptorStream {
    let descriptor = Foundation.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .unavailable(
        "\(path) could not be opened (\(reason(errno))): check the path and the permission")
    }
    guard configure(descriptor, speed: speed) else {
      let reason = reason(errno)
      close(descriptor)
      throw .unavailable(
        "\(path) could not be set to \(speed) bits per second (\(reason)): check that it is a serial port"
      )
    }
    return DescriptorStream(descriptor: descriptor)
  }

  private static func configure(_ descriptor: Int32, speed: UInt32) -> Bool {
    var settings = termios()
    guard let code = speedCode(speed), tcgetattr(descriptor, &settings) == 0 else { return false }
    cfmakeraw(&settings)
    settings.c_cflag |= tcflag_t(CLOCAL) | tcflag_t(CREAD) | tcflag_t(CRTSCTS)
    settings.c_cflag &= ~tcflag_t(CSTOPB)
    guard cfsetispeed(&settings, code) == 0, cfsetospeed(&settings, code) == 0 else { return false }
    // Discards bytes that were received before the first command.
    return tcsetattr(descriptor, TCSAFLUSH, &settings) == 0
  }

  /// The constant of termios for one of `RadioAddress.serialSpeeds`.
  private static func speedCode(_ speed: UInt32) -> speed_t? {
    let codes = [
      B9600, B19200, B38400, B57600, B115200, B230400, B460800, B921600, B1000000, B2000000,
      B3000000,
    ]
    return zip(RadioAddress.serialSpeeds, codes).first { $0.0 == speed }.map { speed_t($0.1) }
  }
}

/// The Linux user channel: the kernel hands over a controller that it does not use itself.
private enum UserChannel {
  private static let family: Int32 = 31
  private static let hciProtocol: Int32 = 1
  private static let channel: UInt16 = 1

  static func open(_ number: UInt16) throws(BluetoothError) -> DescriptorStream {
    let type = Int32(SOCK_RAW.rawValue) | O_NONBLOCK | O_CLOEXEC
    let descriptor = socket(family, type, hciProtocol)
    guard descriptor >= 0 else { throw failure(number, errno) }
    // struct sockaddr_hci: family, controller and channel in the byte order of the machine.
    let address = [UInt16(family), number, channel]
    let status = address.withUnsafeBytes { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) {
        bind(descriptor, $0.baseAddress, socklen_t(bytes.count))
      }
    }
    guard status == 0 else {
      let code = errno
      close(descriptor)
      throw failure(number, code)
    }
    return DescriptorStream(descriptor: descriptor)
  }

  private static func failure(_ number: UInt16, _ code: Int32) -> BluetoothError {
    let advice =
      switch code {
      case EPERM, EACCES: "run with the capability CAP_NET_ADMIN"
      case EBUSY:
        "stop the programs that use it and take it down with `hciconfig hci\(number) down`"
      case ENODEV: "list the controllers in /sys/class/bluetooth"
      case EAFNOSUPPORT, EPROTONOSUPPORT: "this kernel has no Bluetooth; load its modules"
      default: "check the controller with `hciconfig`"
      }
    return .unavailable("hci\(number) could not be opened (\(reason(code))): \(advice)")
  }
}

extension POSIXError {
  fileprivate init(_ code: Int32) {
    self.init(POSIXErrorCode(rawValue: code) ?? .EIO)
  }
}

/// The text of a value of `errno`.
private func reason(_ code: Int32) -> String {
  String(cString: strerror(code)).lowercased()
}
