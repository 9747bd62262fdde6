import Foundation
import KeyServerAPI

extension StoredState {
  /// The remote configuration that was stored, checked again, or the one the app is built with.
  func verifiedConfiguration(by keys: [RemoteConfigurationKey]) -> RemoteConfiguration {
    guard let remoteConfiguration,
      let unverified = try? UnverifiedRemoteConfiguration(decoding: remoteConfiguration),
      let verified = try? unverified.verified(by: keys)
    else { return .protegoDefault }
    return verified
  }
}
