// SPDX-License-Identifier: Apache-2.0
import ExposureKeys

/// Selects the sightings of a scan that are stored if there are more than the limits allow.
///
/// A flood of false beacons must not displace a meeting. So copies of one identifier are limited first. Then each
/// identifier gets its strongest copy, the nearest senders first, before any gets a second one.
enum ScanAdmission {
  /// A sighting with its place in the scan, and the number of stronger copies of its identifier.
  private struct Candidate {
    let index: Int
    let rank: Int
  }

  /// Returns at most `limit` of `sightings`, in their order.
  static func admitted(_ sightings: [Sighting], atMost limit: Int) -> [Sighting] {
    let copiesMax = ContactLimit.copiesPerIdentifier
    guard sightings.count > min(limit, copiesMax) else { return sightings }
    let strongestFirst = sightings.indices.sorted {
      (-Int(sightings[$0].signalStrength), $0) < (-Int(sightings[$1].signalStrength), $1)
    }
    var copies: [RollingProximityIdentifier: Int] = [:]
    var candidates: [Candidate] = []
    for index in strongestFirst {
      let rank = copies[sightings[index].advertisement.identifier, default: 0]
      copies[sightings[index].advertisement.identifier] = rank + 1
      if rank < copiesMax { candidates.append(Candidate(index: index, rank: rank)) }
    }
    if candidates.count > limit {
      candidates = Array(
        candidates.enumerated()
          .sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
          .prefix(limit).map(\.element))
    }
    return candidates.map(\.index).sorted().map { sightings[$0] }
  }
}
