// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import Logging
import SealedStorage
import StrictJSON
import World

/// The published numbers of the health authority, and the districts that the owner follows.
///
/// Documents are requested again only after the time that `timestamps.json` states, and only those that have changed.
/// Without a connection the last ones stay in use. Requests do not depend on the followed districts.
package actor Statistics {
  /// A document of the server.
  package enum Document: String, Codable, CaseIterable, Sendable {
    /// The numbers of the whole country.
    case dashboard
    /// The numbers of each region, and of the last fourteen days.
    case details
    /// The names and states of the districts.
    case districts
  }

  private struct Timestamps: Codable {
    let nextUpdate: Int64
    let dashboardUpdated: Int64
    let detailsUpdated: Int64
    let districtsUpdated: Int64

    func updated(_ document: Document) -> Int64 {
      switch document {
      case .dashboard: dashboardUpdated
      case .details: detailsUpdated
      case .districts: districtsUpdated
      }
    }
  }

  private struct Stored: Codable {
    /// The JSON of the document.
    let json: String
    /// The time of its last change that the server stated.
    let updated: Int64
  }

  /// The property names are the JSON keys on disk.
  private struct StoredStatistics: Codable {
    var timestamps: Timestamps?
    /// The time of the last request for the timestamps.
    var asked: Date?
    var documents: [String: Stored] = [:]
    var districts: [Int] = []
  }

  private let server: URL
  private let network: any Network
  private let file: SealedFile
  private let clock: any WallClock
  private let logger: Logger
  private var content: StoredStatistics

  /// The statistics of `server`; a damaged file in `folder` counts as missing.
  init(
    of server: URL, network: any Network, in folder: PhoneFolder, key: SealingKey,
    clock: any WallClock, randomness: any Randomness, logger: Logger
  ) {
    self.server = server
    self.network = network
    self.clock = clock
    self.logger = logger
    file = SealedFile(
      url: folder.statistics, key: key, purpose: "statistics", randomness: randomness)
    content = file.readableJSON(StoredStatistics.self) ?? StoredStatistics()
  }

  /// Returns `true` if a document of statistics is at `url`.
  static func isRequest(_ url: URL) -> Bool {
    let names = Document.allCases.map(\.rawValue) + [timestampsName]
    return names.contains { url.lastPathComponent == "\($0).json" }
  }

  private static let timestampsName = "timestamps"

  /// The JSON object of a document; `nil` if it was never received.
  package func json(of document: Document) async -> String? {
    do {
      try await refresh(document)
    } catch {
      logger.info("requesting statistics failed", metadata: ["error": "\(error)"])
    }
    return content.documents[document.rawValue]?.json
  }

  /// The numbers of the followed districts, in the order in which they were added.
  package var districts: [Int] { content.districts }

  /// Follows a district or stops following it.
  ///
  /// - Throws: `SealedStorageError` if the change cannot be stored; then nothing has changed.
  package func setFollowed(_ isFollowed: Bool, district: Int) throws {
    var next = content
    next.districts.removeAll { $0 == district }
    if isFollowed {
      next.districts = (next.districts + [district]).suffix(StatisticsLimit.districtsMax)
    }
    try file.replace(with: JSONEncoder().encode(next))
    content = next
  }

  /// Removes the documents and the followed districts.
  package func removeAll() throws {
    try file.remove()
    content = StoredStatistics()
  }

  private func refresh(_ document: Document) async throws {
    if isTimestampDue {
      content.asked = clock.now
      let timestamps = try JSONDecoder().decode(
        Timestamps.self, from: Data(try await object(named: Self.timestampsName).utf8))
      content.timestamps = timestamps
    }
    guard let updated = content.timestamps?.updated(document) else { return }
    let stored = content.documents[document.rawValue]
    guard stored.map({ $0.updated < updated }) ?? true else { return }
    let json = try await object(named: document.rawValue)
    content.documents[document.rawValue] = Stored(json: json, updated: updated)
    try file.replace(with: JSONEncoder().encode(content))
  }

  /// True if the server may have newer documents and the last request is long enough ago.
  private var isTimestampDue: Bool {
    let now = clock.now
    guard let asked = content.asked, asked <= now else { return true }
    let age = now.timeIntervalSince(asked)
    guard let timestamps = content.timestamps else { return age >= StatisticsLimit.retrySeconds }
    let next = Date(unixSecond: timestamps.nextUpdate)
    return age >= StatisticsLimit.cacheSecondsMax
      || (now >= next && age >= StatisticsLimit.retrySeconds)
  }

  private func object(named name: String) async throws -> String {
    let response = try await network.send(
      NetworkRequest(
        server.appendingPathComponent("\(name).json"),
        responseBytesMax: StatisticsLimit.documentBytesMax))
    let isObject = response.body.first == UInt8(ascii: "{")
    guard response.status == 200, isObject, StrictJSONValidator.accepts(response.body) else {
      throw NetworkFailure.interrupted
    }
    return String(decoding: response.body, as: UTF8.self)
  }
}

/// Limits of the statistics.
package enum StatisticsLimit {
  /// The size of a document, in bytes.
  package static let documentBytesMax = 1 << 20
  /// The time between two requests while the server states a time in the past, or fails, in seconds.
  package static let retrySeconds: TimeInterval = 300
  /// The upper bound of the cache lifetime that the server states, in seconds: two days.
  package static let cacheSecondsMax: TimeInterval = 2 * 86_400
  /// The number of followed districts.
  package static let districtsMax = 100
}
