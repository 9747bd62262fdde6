// SPDX-License-Identifier: Apache-2.0
import Foundation
import PhoneProcess
import TextEncodings

/// The source of ProteGO Safe's statistics and districts: messages 70 to 73, 102 and 104.
package protocol StatisticsSource: Sendable {
  /// The districts with their zones, as message 70 has them. With `refreshing`, downloads them.
  func districts(refreshing: Bool) async -> JSONValue
  /// The districts of which the owner wants news, as message 73 has them.
  func subscribedDistricts() async -> JSONValue
  /// Starts or ends the news about a district; `nil` if the district is unknown.
  ///
  /// - Throws: If it cannot be stored.
  func subscribe(_ isSubscribed: Bool, to district: Int) async throws -> JSONValue?
  /// The content of `dashboard.json`; `nil` without one.
  func dashboard() async -> JSONValue?
  /// The content of `details.json`; `nil` without one.
  func details() async -> JSONValue?
}

/// The statistics that the health authority publishes, for the messages of the bridge.
package struct PublishedStatistics: StatisticsSource {
  private let statistics: Statistics?

  /// The messages about `statistics`; `nil` for a health authority that publishes none.
  package init(_ statistics: Statistics?) {
    self.statistics = statistics
  }

  /// The server states when the districts change, so `refreshing` asks for nothing more.
  package func districts(refreshing: Bool) async -> JSONValue {
    guard let document = await document(.districts), let regions = document["voivodeships"] else {
      return ["result": 2, "updated": 0, "voivodeships": []]
    }
    let followed = await followed
    return [
      "result": 1, "updated": document["updated"] ?? 0,
      "voivodeships": .array(regions.elements.map { $0.marking(followed) }),
    ]
  }

  package func subscribedDistricts() async -> JSONValue {
    let known = await knownDistricts()
    return ["districts": .array(await followed.compactMap { known[$0] })]
  }

  package func subscribe(_ isSubscribed: Bool, to district: Int) async throws -> JSONValue? {
    guard let statistics else { return await subscribedDistricts() }
    guard await knownDistricts()[district] != nil else { return nil }
    try await statistics.setFollowed(isSubscribed, district: district)
    return await subscribedDistricts()
  }

  package func dashboard() async -> JSONValue? { await document(.dashboard) }

  package func details() async -> JSONValue? { await document(.details) }

  private func document(_ document: Statistics.Document) async -> JSONValue? {
    await statistics?.json(of: document).flatMap { JSONValue(text: $0) }
  }

  private var followed: [Int] {
    get async { await statistics?.districts ?? [] }
  }

  /// The districts by their number.
  private func knownDistricts() async -> [Int: JSONValue] {
    let regions = await document(.districts)?["voivodeships"]?.elements ?? []
    let districts = regions.flatMap { $0["districts"]?.elements ?? [] }
    return Dictionary(
      districts.compactMap { district in district["id"]?.asInteger.map { ($0, district) } },
      uniquingKeysWith: { first, _ in first })
  }
}

extension JSONValue {
  /// The region with its districts, each of which says if it is in `followed`.
  fileprivate func marking(_ followed: [Int]) -> JSONValue {
    let districts = (self["districts"]?.elements ?? []).map { district in
      let isFollowed = district["id"]?.asInteger.map(followed.contains) ?? false
      return district.with(["isSubscribed": .bool(isFollowed)])
    }
    return with(["districts": .array(districts)])
  }
}
