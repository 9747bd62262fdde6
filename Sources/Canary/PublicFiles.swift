// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import KeyServerAPI
import World

/// The index and the key files of real phones, as the canary checks them: it has no key to match with them, but a proxy
/// or a cache may deliver them in another way than those of the canary's export.
struct PublicFiles: Sendable {
  let network: any Network
  let keyServer: URL

  /// The first bytes of a ZIP archive.
  private static let signature = Data("PK".utf8)

  /// Fetches the index and the newest file to `folder`.
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
      return try await fault(of: newest, folder: folder)
    } catch let error as CancellationError {
      throw error
    } catch {
      return "the index or the key files of real phones cannot be fetched: \(error)"
    }
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
    let content = try Data(contentsOf: file, options: .mappedIfSafe)
    return content.starts(with: Self.signature) ? nil : "\(name.text) is not a key file"
  }
}
