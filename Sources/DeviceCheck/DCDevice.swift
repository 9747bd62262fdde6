// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// Apple's proof that an app runs on a genuine device, on Linux.
///
/// The program installs a `DeviceTokenSource`. Without one the device is not supported, like Apple's
/// simulator.
public final class DCDevice: Sendable {
  /// This device.
  public static let current = DCDevice()

  private let source = Mutex<(any DeviceTokenSource)?>(nil)

  /// A separate device, for a program with several devices.
  package init() {}

  /// Installs the source of tokens.
  public func install(_ source: any DeviceTokenSource) {
    self.source.withLock { $0 = source }
  }

  /// True if `generateToken` can succeed.
  public var isSupported: Bool { source.withLock { $0 != nil } }

  /// Returns a new opaque token for one use. The app sends it to its server, which verifies it with the
  /// authority.
  ///
  /// - Throws: `DCError`: `.featureUnsupported` without a source, the source's own `DCError`, or
  ///   `.unknownSystemFailure` for any other error of the source.
  public func generateToken() async throws -> Data {
    guard let source = source.withLock({ $0 }) else { throw DCError(.featureUnsupported) }
    do {
      return try await source.token()
    } catch {
      throw error as? DCError ?? DCError(.unknownSystemFailure)
    }
  }

  /// The form of `generateToken()` with a handler, which is called on a global queue.
  public func generateToken(completionHandler completion: @escaping (Data?, (any Error)?) -> Void) {
    nonisolated(unsafe) let handler = completion
    Task {
      let result: Result<Data, any Error>
      do {
        result = .success(try await generateToken())
      } catch {
        result = .failure(error)
      }
      DispatchQueue.global().async {
        switch result {
        case .success(let token): handler(token, nil)
        case .failure(let error): handler(nil, error)
        }
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
