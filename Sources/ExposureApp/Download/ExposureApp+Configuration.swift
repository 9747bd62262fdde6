import Foundation
import KeyServerAPI
import Logging
import World

extension ExposureApp {
  /// Asks for a newer remote configuration. Only one that its owner signed and that is not older
  /// than any seen before is taken; else the app goes on with the one it has. Documentation/App.md
  /// 3.7.
  func refreshConfiguration() async {
    let url = configuration.keyServer.appendingPathComponent(KeyServerRoute.remoteConfiguration)
    let request = NetworkRequest(url, answerBytesMax: UnverifiedRemoteConfiguration.bytesMax)
    do {
      let answer = try await network.send(request)
      guard answer.status == 200 else { return }
      let verified = try UnverifiedRemoteConfiguration(decoding: answer.body).verified(
        by: configuration.remoteConfigurationKeys,
        notBefore: store.state.remoteConfigurationVersion)
      try store.update {
        $0.remoteConfiguration = answer.body
        $0.remoteConfigurationVersion = verified.version
      }
      remote = verified
    } catch let error as RemoteConfigurationError {
      logger.notice("a remote configuration was not taken", metadata: ["why": "\(error)"])
    } catch {
      // The configuration at hand is good enough; a lost connection will show in what follows.
    }
  }
}
