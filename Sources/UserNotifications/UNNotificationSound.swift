// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The sound of a notification. The program's sink plays it.
open class UNNotificationSound: NSObject, NSCopying, @unchecked Sendable {
  let value: UserNoticeSound

  init(_ value: UserNoticeSound) {
    self.value = value
  }

  /// The sound in the file `name`, which is in the app's folder `Library/Sounds` or in its bundle.
  public init(named name: UNNotificationSoundName) {
    value = UserNoticeSound(name: name.rawValue)
  }

  /// The default sound.
  open class var `default`: UNNotificationSound { UNNotificationSound(UserNoticeSound()) }
  /// The default sound of critical alerts, which a muted phone plays too.
  open class var defaultCritical: UNNotificationSound {
    UNNotificationSound(UserNoticeSound(isCritical: true))
  }
  /// The user's ringtone.
  open class var defaultRingtone: UNNotificationSound {
    UNNotificationSound(UserNoticeSound(isRingtone: true))
  }

  /// Returns the default sound of critical alerts at a volume of 0 to 1.
  open class func defaultCriticalSound(withAudioVolume volume: Float) -> Self {
    sound(UserNoticeSound(isCritical: true, volume: volume))
  }

  /// Returns the sound in a file as a ringtone.
  open class func ringtoneSoundNamed(_ name: UNNotificationSoundName) -> Self {
    sound(UserNoticeSound(name: name.rawValue, isRingtone: true))
  }

  /// Returns the sound in a file for a critical alert.
  open class func criticalSoundNamed(_ name: UNNotificationSoundName) -> Self {
    sound(UserNoticeSound(name: name.rawValue, isCritical: true))
  }

  /// Returns the sound in a file for a critical alert at a volume of 0 to 1.
  open class func criticalSoundNamed(
    _ name: UNNotificationSoundName, withAudioVolume volume: Float
  ) -> Self {
    sound(UserNoticeSound(name: name.rawValue, isCritical: true, volume: volume))
  }

  /// Apple's signatures return `Self`, and Apple's initializers make no object of a subclass here either.
  private class func sound(_ value: UserNoticeSound) -> Self {
    guard let sound = UNNotificationSound(value) as? Self else {
      preconditionFailure("\(self) cannot be created here: call UNNotificationSound")
    }
    return sound
  }

  /// Returns this object, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? UNNotificationSound)?.value == value
  }

  open override var hash: Int { value.hashValue }
}

/// The name of a file with a sound.
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
  /// The name of the file.
  public let rawValue: String

  /// The file `rawValue`.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// The file `rawValue`.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}
