// SPDX-License-Identifier: Apache-2.0
import Dispatch
// Apps use Foundation through this module, as on Apple's systems.
@_exported import Foundation
import Synchronization

/// Apple's proof that an app runs on a genuine device, on Linux.
///
/// The program installs a `DeviceTokenSource`. Without one the device is not supported, like Apple's
/// simulator.
// Its state is behind a mutex; the class has no other.
open class DCDevice: NSObject, @unchecked Sendable {
  private static let processDevice = DCDevice()

  private let source = Mutex<(any DeviceTokenSource)?>(nil)

  /// A separate device, for a program with several devices.
  package override init() {}

  /// This device.
  open class var current: DCDevice { processDevice }

  /// True if `generateToken` can succeed.
  open var isSupported: Bool { source.withLock { $0 != nil } }

  /// Returns a new opaque token for one use. The app sends it to its server, which verifies it with the
  /// authority.
  ///
  /// - Throws: `DCError`: `.featureUnsupported` without a source, the source's own `DCError`, or
  ///   `.unknownSystemFailure` for any other error of the source.
  open func generateToken() async throws -> Data {
    guard let source = source.withLock({ $0 }) else { throw DCError(.featureUnsupported) }
    do {
      return try await source.token()
    } catch {
      throw error as? DCError ?? DCError(.unknownSystemFailure)
    }
  }

  /// The form of `generateToken()` with a handler, which is called on a global queue.
  open func generateToken(completionHandler completion: @escaping (Data?, (any Error)?) -> Void) {
    callOnGlobalQueue(completion) { try await self.generateToken() }
  }

  /// Installs the source of tokens.
  public func install(_ source: any DeviceTokenSource) {
    self.source.withLock { $0 = source }
  }
}

/// Passes the result of `work` to a handler of the app on a global queue. Apple's handlers are not `Sendable`; only
/// that queue calls this one.
func callOnGlobalQueue<Value: Sendable>(
  _ handler: @escaping (Value?, (any Error)?) -> Void,
  _ work: @escaping @Sendable () async throws -> Value
) {
  nonisolated(unsafe) let handler = handler
  Task {
    let result: Result<Value, any Error>
    do {
      result = .success(try await work())
    } catch {
      result = .failure(error)
    }
    DispatchQueue.global().async {
      switch result {
      case .success(let value): handler(value, nil)
      case .failure(let error): handler(nil, error)
      }
    }
  }
}

/// Creates device tokens, as Apple's system does. A program on Linux implements it.
public protocol DeviceTokenSource: Sendable {
  /// Returns a new token.
  ///
  /// - Throws: `DCError` if there is no token.
  func token() async throws -> Data
}
