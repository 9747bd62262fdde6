import Foundation
import PhoneProcess

/// The statistics that the health authority publishes, for the messages of the bridge.
package struct PublishedStatistics: StatisticsSource {
  private let statistics: Statistics

  package init(_ statistics: Statistics) {
    self.statistics = statistics
  }

  /// The server states when the districts change, so `refreshing` asks for nothing more.
  package func districts(refreshing: Bool) async -> JSONValue {
    guard let document = await document(.districts), let regions = document["voivodeships"] else {
      return await NoStatistics().districts(refreshing: refreshing)
    }
    let followed = await statistics.districts
    return [
      "result": 1, "updated": document["updated"] ?? 0,
      "voivodeships": .array(regions.elements.map { $0.marking(followed) }),
    ]
  }

  package func subscribedDistricts() async -> JSONValue {
    let known = await knownDistricts()
    let followed = await statistics.districts
    return ["districts": .array(followed.compactMap { known[$0] })]
  }

  package func subscribe(_ isSubscribed: Bool, to district: Int) async -> JSONValue? {
    guard await knownDistricts()[district] != nil,
      (try? await statistics.setFollowed(isSubscribed, district: district)) != nil
    else { return nil }
    return await subscribedDistricts()
  }

  package func dashboard() async -> JSONValue? { await document(.dashboard) }

  package func details() async -> JSONValue? { await document(.details) }

  private func document(_ document: Statistics.Document) async -> JSONValue? {
    await statistics.json(of: document).flatMap { JSONValue($0) }
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
  /// The elements of an array; none of any other value.
  fileprivate var elements: [JSONValue] {
    guard case .array(let elements) = self else { return [] }
    return elements
  }

  /// The region with its districts, each of which says if it is in `followed`.
  fileprivate func marking(_ followed: [Int]) -> JSONValue {
    guard case .object(var region) = self else { return self }
    let districts = region["districts"]?.elements ?? []
    region["districts"] = .array(
      districts.map { district in
        guard case .object(var fields) = district else { return district }
        let isFollowed = fields["id"]?.asInteger.map(followed.contains) ?? false
        fields["isSubscribed"] = .bool(isFollowed)
        return .object(fields)
      })
    return .object(region)
  }
}
