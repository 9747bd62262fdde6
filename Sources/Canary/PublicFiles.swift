// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureApp
import Foundation
import KeyServerAPI
import World

/// The index and the key files of real phones, as the canary checks them: it has no key to match with them, but a proxy
/// or a cache may deliver them in another way than those of the canary's export.
struct PublicFiles: Sendable {
  let network: any Network
  let keyServer: URL
  let rootKey: RootKey
  let clock: any WallClock
  /// The longest time since the end of the newest file, in seconds; nil for any.
  let ageSecondsMax: TimeInterval?

  /// Fetches the index and the newest file to `folder`, and verifies the file as phones do.
  ///
  /// - Returns: The reason why phones cannot use them; nil if they can. The index of a new service is empty.
  /// - Throws: `CancellationError`.
  func fault(folder: URL) async throws -> String? {
    do {
      let response = try await network.send(
        NetworkRequest(
          keyServer.appendingPathComponent(KeyServerRoute.index),
          responseBytesMax: KeyFileIndex.bytesMax))
      guard response.status == 200 else {
        return "the index of real phones has status \(response.status)"
      }
      let index = KeyFileIndex.parse(String(decoding: response.body, as: UTF8.self))
      guard index.malformedCount == 0 else { return "the index of real phones is malformed" }
      guard let newest = index.names.last else { return nil }
      if let fault = fault(ofTime: newest) { return fault }
      return try await fault(of: newest, folder: folder)
    } catch let error as CancellationError {
      throw error
    } catch {
      return "the index or the key files of real phones cannot be fetched: \(error)"
    }
  }

  /// The fault of an old index, such as a cache keeps, and of one whose newest name phones ignore.
  private func fault(ofTime name: KeyFileName) -> String? {
    let age = clock.now.timeIntervalSince1970 - TimeInterval(name.endTimestamp)
    guard -age <= DownloadLimit.futureSecondsMax else {
      return "\(name.text), the newest file of the index, is from the future"
    }
    guard let ageSecondsMax, age > ageSecondsMax else { return nil }
    return "\(name.text), the newest file of the index, ended \(Int(age / 3_600)) hours ago"
  }

  private func fault(of name: KeyFileName, folder: URL) async throws -> String? {
    let file = folder.appendingPathComponent("public.zip")
    defer { FileManager.default.removeUnneeded(file) }
    let response = try await network.download(
      NetworkRequest(
        keyServer.appendingPathComponent(KeyServerRoute.keyFile(name)),
        responseBytesMax: DownloadLimit.fileBytesMax), to: file)
    guard response.status == 200 else {
      return "\(name.text), which is in the index, has status \(response.status)"
    }
    let keys = try await keys()
    do {
      let verified = try UnverifiedKeyFile(at: file).verified(
        by: keys, batchSize: KeyFileLimit.batchSizes.upperBound
      ) { _ in }
      let isNamed = Int64(exactly: verified.header.end) == name.endTimestamp
      return isNamed ? nil : "\(name.text) is the file of another period"
    } catch {
      return "\(name.text) is not accepted by phones: \(error)"
    }
  }

  /// The keys that phones accept at this moment.
  private func keys() async throws -> [VerificationPublicKey] {
    let response = try await network.send(
      NetworkRequest(
        keyServer.appendingPathComponent(KeyServerRoute.deviceConfiguration),
        responseBytesMax: DeviceConfigurationLimit.bytesMax))
    let now = clock.now
    return try UnverifiedDeviceConfiguration(decoding: response.body)
      .verified(by: rootKey, at: now).keys(validAt: now).map {
        try VerificationPublicKey(
          keyID: $0.keyID, keyVersion: $0.keyVersion, publicKeyPEM: $0.publicKey)
      }
  }
}
