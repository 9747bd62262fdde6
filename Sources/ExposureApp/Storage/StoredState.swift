import Foundation

/// Everything the app remembers, in one piece: it is replaced whole, so that for instance the
/// cursor and the exposures found up to it always change together. Documentation/App.md 8.1.
struct StoredState: Codable, Sendable {
  /// The form of what is stored; counts up when it changes.
  var form = 1
  /// Whether the person has been through the first screens.
  var isOnboarded = false
  /// Which key files have been analysed.
  var download = DownloadCursor()
  /// The exposures found in the last fourteen days.
  var exposures: [Exposure] = []
  /// Judged days that the person removed, so that they do not come back; nil where there are none, and
  /// in stores from before there were any.
  var removedDays: [Exposure]?
  /// What was checked, and when.
  var history = CheckHistory()
  /// What the person has been told, and has still to be told.
  var notices = NoticeMemory()
  /// The newest remote configuration, as it was signed, and the highest version ever taken.
  var remoteConfiguration: Data?
  var remoteConfigurationVersion = 0
  /// When PINs were refused lately.
  var refusedPINs: [Date] = []
  /// An upload that was begun and has no answer yet.
  var pendingUpload: PendingUpload?
  /// When the next decoy goes out.
  var nextDecoy: Date?
}
