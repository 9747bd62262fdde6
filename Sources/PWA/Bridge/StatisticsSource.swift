import Foundation

/// The source of ProteGO Safe's statistics and districts: messages 70 to 73, 102 and 104.
package protocol StatisticsSource: Sendable {
  /// The districts with their zones, as message 70 has them. With `refreshing`, downloads them.
  func districts(refreshing: Bool) async -> JSONValue
  /// The districts of which the owner wants news, as message 73 has them.
  func subscribedDistricts() async -> JSONValue
  /// Starts or ends the news about a district; `nil` if the district is unknown.
  func subscribe(_ isSubscribed: Bool, to district: Int) async -> JSONValue?
  /// The content of `dashboard.json`; `nil` without one.
  func dashboard() async -> JSONValue?
  /// The content of `details.json`; `nil` without one.
  func details() async -> JSONValue?
}

/// A phone whose health authority publishes no statistics.
package struct NoStatistics: StatisticsSource {
  package init() {}

  package func districts(refreshing: Bool) async -> JSONValue {
    ["result": 2, "updated": 0, "voivodeships": .array([])]
  }

  package func subscribedDistricts() async -> JSONValue { ["districts": .array([])] }

  package func subscribe(_ isSubscribed: Bool, to district: Int) async -> JSONValue? {
    await subscribedDistricts()
  }

  package func dashboard() async -> JSONValue? { nil }

  package func details() async -> JSONValue? { nil }
}
