import Dispatch
import Foundation
import Synchronization

/// Apple's proof that an app runs on a genuine device, on Linux.
///
/// The program installs a `DeviceTokenSource`, such as a stand-in of the authority in a town. Without
/// one the device is not supported and says so, like a simulator of Apple's.
public final class DCDevice: Sendable {
  /// This device.
  public static let current = DCDevice()

  private let source = Mutex<(any DeviceTokenSource)?>(nil)

  /// A device of its own, for a program with several phones.
  package init() {}

  /// Says who makes the tokens.
  public func install(_ source: any DeviceTokenSource) {
    self.source.withLock { $0 = source }
  }

  /// Whether `generateToken` can succeed.
  public var isSupported: Bool { source.withLock { $0 != nil } }

  /// A new token that the app hands to its server, which asks the authority about it. Opaque, used
  /// once.
  ///
  /// - Throws: `DCError`: `.featureUnsupported` without a source; `.serverUnavailable` or what else
  ///   the source says; `.unknownSystemFailure` for an error that is none of these.
  public func generateToken() async throws -> Data {
    guard let source = source.withLock({ $0 }) else { throw DCError(.featureUnsupported) }
    do {
      return try await source.token()
    } catch {
      throw error as? DCError ?? DCError(.unknownSystemFailure)
    }
  }

  /// `generateToken()` with a handler, which is called on a queue of the system's.
  public func generateToken(completionHandler completion: @escaping (Data?, (any Error)?) -> Void) {
    let handler = Handoff(completion)
    Task {
      let result: Result<Data, any Error>
      do {
        result = .success(try await generateToken())
      } catch {
        result = .failure(error)
      }
      DispatchQueue.global().async {
        switch result {
        case .success(let token): handler.value(token, nil)
        case .failure(let error): handler.value(nil, error)
        }
      }
    }
  }
}
