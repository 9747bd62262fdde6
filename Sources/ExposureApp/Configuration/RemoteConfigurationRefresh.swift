import Foundation
import KeyServerAPI
import Logging
import World

extension ExposureApp {
  /// Downloads the remote configuration. It is accepted only if a key of the device configuration signed it
  /// and the version is not lower than any accepted before; otherwise the current one stays in use.
  func refreshConfiguration() async {
    let route = KeyServerRoute.remoteConfiguration
    do {
      let response = try await requestConfiguration(
        route, bytesMax: UnverifiedRemoteConfiguration.bytesMax,
        isStored: store.state.remoteConfiguration != nil)
      guard let response else { return }
      let verified = try UnverifiedRemoteConfiguration(decoding: response.body).verified(
        by: remoteConfigurationKeys, notBefore: store.state.remoteConfiguration?.version ?? 0)
      try store.update {
        $0.remoteConfiguration = verified
        $0.configurationVersions[route] = response.version
      }
      remote = verified
    } catch let error as RemoteConfigurationError {
      logger.notice("remote configuration rejected: \(error)")
    } catch {
      // The current configuration stays in use; the following download reports a lost connection.
    }
  }

  private var remoteConfigurationKeys: [RemoteConfigurationKey] {
    trustedKeys.compactMap {
      try? RemoteConfigurationKey(
        keyID: $0.keyID, keyVersion: $0.keyVersion, publicKeyPEM: $0.publicKey)
    }
  }
}
