import Dispatch
import Foundation

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
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout.size(ofValue: on)))
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

extension POSIXError {
  fileprivate init(_ code: Int32) {
    self.init(POSIXErrorCode(rawValue: code) ?? .EIO)
  }
}
