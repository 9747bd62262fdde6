/// How much a phone hears and keeps.
package enum ContactLimit {
  /// Sightings kept of one scan; a radio that hears more is being flooded.
  package static let sightingsPerScan = 10_000
  /// Sightings kept of one day: a scan each four minutes amid 600 phones.
  package static let sightingsPerDay = 220_000

  /// How many of `heard` sightings of one scan are kept on a day that holds `kept` already.
  static func admitted(_ heard: Int, after kept: Int) -> Int {
    min(heard, sightingsPerScan, max(0, sightingsPerDay - kept))
  }
}
