// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// The sounds of the app.
enum AlertSound {
  case system
  case file(String)
  case critical(volume: Float?)

  var sound: UNNotificationSound {
    switch self {
    case .system: return .default
    case .file(let name): return UNNotificationSound(named: UNNotificationSoundName(rawValue: name))
    case .critical(nil): return .defaultCritical
    case .critical(let volume?): return .defaultCriticalSound(withAudioVolume: volume)
    }
  }

  static func siren(_ volume: Float) -> UNNotificationSound {
    .criticalSoundNamed(UNNotificationSoundName("siren.caf"), withAudioVolume: volume)
  }
}
