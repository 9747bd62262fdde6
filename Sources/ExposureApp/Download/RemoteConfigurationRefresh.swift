import Foundation
import KeyServerAPI
import Logging
import World

extension ExposureApp {
  /// Downloads the remote configuration. It is accepted only if the signature is valid and the version is
  /// not lower than any accepted before; otherwise the current one stays in use.
  func refreshConfiguration() async {
    let url = configuration.keyServer.appendingPathComponent(KeyServerRoute.remoteConfiguration)
    let request = NetworkRequest(url, responseBytesMax: UnverifiedRemoteConfiguration.bytesMax)
    do {
      let response = try await network.send(request)
      guard response.status == 200 else { return }
      let verified = try UnverifiedRemoteConfiguration(decoding: response.body).verified(
        by: configuration.remoteConfigurationKeys,
        notBefore: store.state.remoteConfigurationVersion)
      try store.update {
        $0.remoteConfiguration = response.body
        $0.remoteConfigurationVersion = verified.version
      }
      remote = verified
    } catch let error as RemoteConfigurationError {
      logger.notice("remote configuration rejected: \(error)")
    } catch {
      // The current configuration stays in use; the following download reports a lost connection.
    }
  }
}

extension StoredState {
  /// The stored remote configuration if its signature is still valid, otherwise ProteGO Safe's default.
  func verifiedConfiguration(by keys: [RemoteConfigurationKey]) -> RemoteConfiguration {
    guard let remoteConfiguration,
      let unverified = try? UnverifiedRemoteConfiguration(decoding: remoteConfiguration),
      let verified = try? unverified.verified(by: keys)
    else { return .protegoDefault }
    return verified
  }
}
