// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import KeyServerAPI
import PostgreSQL
import World

/// Adds the keys of another server's files to a key database. A file is verified and then stored in one transaction, so
/// an import that was interrupted continues with the next file.
package struct KeyImport: Sendable {
  /// The handling of the imported keys.
  package struct Rules: Sendable {
    /// The region that the keys get; nil for the region in each file.
    package var region: String?
    /// True if the keys count as those of users who consented to sharing them with other countries.
    package var travels: Bool

    package init(region: String? = nil, travels: Bool = false) {
      (self.region, self.travels) = (region, travels)
    }
  }

  private let store: any KeyStore
  private let signer: TrustedSigner
  private let rules: Rules
  private let clock: any WallClock

  /// Opens the database of a server, which may be running.
  ///
  /// - Throws: `KeyServerError.database`, `.newerDatabase`, or `.configuration` if the region is not valid.
  package init(
    databaseFile: URL, databaseAddress: PostgreSQLAddress? = nil, signer: TrustedSigner,
    rules: Rules, clock: any WallClock
  ) throws(KeyServerError) {
    try self.init(
      store: KeyServerComposition.store(at: databaseFile, or: databaseAddress), signer: signer,
      rules: rules, clock: clock)
  }

  init(
    store: any KeyStore, signer: TrustedSigner, rules: Rules, clock: any WallClock
  ) throws(KeyServerError) {
    if let fault = AuthorizedApp.fault(inRegions: Set([rules.region].compactMap(\.self))) {
      throw .configuration("--region: \(fault)")
    }
    self.store = store
    self.signer = signer
    self.rules = rules
    self.clock = clock
  }

  /// Imports the files of `source` that were not imported before, oldest first.
  ///
  /// - Parameter progress: Called after each file.
  /// - Throws: `KeyImportFailure`, after all files before the failing one are stored.
  @discardableResult
  package func run(
    _ source: KeyFileSource, progress: @Sendable (KeyImportReport) -> Void = { _ in }
  ) async throws -> KeyImportReport {
    var report = KeyImportReport()
    let known = try await storing { try await store.importedFiles() }
    for file in try await source.files() {
      if file.isRemote, known.names.contains(file.name) {
        report.filesKnown += 1
      } else {
        try await run(file, knowing: known, into: &report)
      }
      progress(report)
    }
    return report
  }

  private func run(
    _ file: KeyFileSource.File, knowing known: ImportedFiles, into report: inout KeyImportReport
  ) async throws {
    let content = try await file.content()
    let hash = Data(SHA256.hash(data: content))
    guard !known.hashes.contains(hash) else {
      report.filesKnown += 1
      return
    }
    let imported = try keys(of: file.name, content, hash: hash, into: &report)
    let outcome = try await storing { try await store.importKeys(imported) }
    report.files += 1
    report.inserted += outcome.inserted
    report.revised += outcome.revised
    report.known +=
      imported.keys.count + imported.revised.count - outcome.inserted - outcome.revised
  }

  /// The keys of a file with a valid signature.
  private func keys(
    of name: String, _ content: [UInt8], hash: Data, into report: inout KeyImportReport
  ) throws(KeyImportFailure) -> ImportedKeys {
    let now = clock.now
    var (new, revised): ([DiagnosisKey], [DiagnosisKey]) = ([], [])
    let facts = try signer.verify(content, of: name) { batch in
      if batch.areRevised { revised += batch.keys } else { new += batch.keys }
    }
    let region = rules.region ?? facts.header.region.uppercased()
    guard AuthorizedApp.fault(inRegions: [region]) == nil else {
      throw .invalid(name, "its region is \(region.debugDescription): name one with --region")
    }
    let (window, regions) = (ImportWindow(at: now), [region])
    func publishable(_ keys: [DiagnosisKey]) -> [PublishableKey] {
      keys.filter { window.contains($0.key) }.map { key in
        PublishableKey(
          key: key, regions: regions, travels: rules.travels,
          releasedAt: Embargo.release(of: key.key, receivedAt: now))
      }
    }
    let imported = ImportedKeys(
      source: name, sha256: hash, at: now, keys: publishable(new), revised: publishable(revised))
    report.skipped +=
      facts.keysSkipped + new.count + revised.count - imported.keys.count - imported.revised.count
    report.regions.insert(region)
    return imported
  }

  private func storing<Value>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch let error as KeyServerError { throw error } catch {
      throw KeyServerError.unavailable
    }
  }
}

/// The keys that may be imported at one time: phones analyse no older ones, and none of the future.
private struct ImportWindow {
  private let oldest: IntervalNumber
  private let newest: IntervalNumber

  init(at now: Date) {
    let zero = IntervalNumber(rawValue: 0)
    oldest = IntervalNumber(now.addingTimeInterval(-UploadLimit.keyAgeSecondsMax)) ?? zero
    newest = IntervalNumber(now) ?? zero
  }

  func contains(_ key: TemporaryExposureKey) -> Bool {
    key.rollingEnd > oldest && key.rollingStart <= newest
  }
}

/// The counts of an import.
package struct KeyImportReport: Sendable, Hashable {
  /// The files that were stored.
  package var files = 0
  /// The files that were stored by an earlier import.
  package var filesKnown = 0
  /// The new keys.
  package var inserted = 0
  /// The keys that a file revised.
  package var revised = 0
  /// The keys that were stored before, which stay as they are.
  package var known = 0
  /// The keys that are too old, of the future, or invalid.
  package var skipped = 0
  /// The regions that the keys got.
  package var regions: Set<String> = []
}

/// The keys of one file for the database.
struct ImportedKeys: Sendable {
  /// The path or address of the file.
  let source: String
  /// The hash of the file.
  let sha256: Data
  let at: Date
  let keys: [PublishableKey]
  let revised: [PublishableKey]
}

/// The files that earlier imports have stored.
struct ImportedFiles: Sendable {
  var names: Set<String> = []
  var hashes: Set<Data> = []
}

/// The key of another authority, which must have signed its files.
package struct TrustedSigner: Sendable {
  private let publicKeyPEM: String
  private let keyID: String?
  private let keyVersion: String?

  /// - Parameters:
  ///   - keyID: The ID that a signature must have; nil for any.
  ///   - keyVersion: The version that a signature must have; nil for any.
  package init(publicKeyPEM: String, keyID: String? = nil, keyVersion: String? = nil) {
    self.publicKeyPEM = publicKeyPEM
    self.keyID = keyID
    self.keyVersion = keyVersion
  }

  /// Passes the keys of a file on. They are provisional until this returns.
  func verify(
    _ content: [UInt8], of name: String, each: (ProvisionalKeyBatch) -> Void
  ) throws(KeyImportFailure) -> KeyFileSummary {
    let file = UnverifiedKeyFile(published: content)
    do {
      return try file.verified(
        batchSize: KeyFileLimit.batchSizes.upperBound,
        by: { infos in
          try infos.map { info in
            try VerificationPublicKey(
              keyID: keyID ?? info.verificationKeyID,
              keyVersion: keyVersion ?? info.verificationKeyVersion, publicKeyPEM: publicKeyPEM)
          }
        }, each: { each($0) }
      ).facts
    } catch let error as KeyFileError {
      throw error.isOfSignature ? .unsigned(name, "\(error)") : .invalid(name, "\(error)")
    } catch {
      throw .invalid(name, "\(error)")
    }
  }
}

extension KeyFileError {
  /// True if the file is a key file, but not one that the expected key has signed.
  fileprivate var isOfSignature: Bool {
    [.unsigned, .noSignatureByTheseKeys, .signatureMismatch, .unsupportedAlgorithm].contains(self)
  }
}

/// The reason why an import or a mirror ended. All files before it are stored.
package enum KeyImportFailure: Error, Hashable, Sendable {
  /// The file is not signed by the expected key.
  case unsigned(String, String)
  /// The file cannot be read as a key file.
  case invalid(String, String)
  /// The index has no valid line, or the file or address cannot be used.
  case badSource(String, String)
  /// The other server did not respond as expected: try again.
  case unavailable(String, String)
}

extension KeyImportFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unsigned(let name, let reason), .invalid(let name, let reason),
      .badSource(let name, let reason), .unavailable(let name, let reason):
      "\(name): \(reason)"
    }
  }
}
