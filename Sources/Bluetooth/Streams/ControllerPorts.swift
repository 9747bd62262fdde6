import Foundation

extension RadioAddress: ControllerPort {
  func open() async throws(BluetoothError) -> any ByteStream {
    switch self {
    case .tcp(let host, let port): try await TCPConnection.open(host: host, port: port)
    case .serial(let path, let speed): try SerialPort.open(path, speed: speed)
    case .userChannel(let number): try UserChannel.open(number)
    }
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

/// The text of a value of `errno`.
func reason(_ code: Int32) -> String {
  String(cString: strerror(code)).lowercased()
}
