/// A `DetectionHistory` as it lies on the disk, under its seal.
struct StoredHistory: Codable {
  /// The times of the calls.
  let calls: DetectionQuota
  let files: KeyFileQuota?
  let map: MapHistory?

  init(_ history: DetectionHistory) {
    calls = history.quota
    files = history.files
    map = history.map
  }

  var history: DetectionHistory {
    DetectionHistory(
      quota: calls, files: files ?? KeyFileQuota(), map: map ?? MapHistory())
  }
}
