/// What the app says outside its pages.
enum Words {
  static let whyExposuresAreRead = "The list of your exposures shows day, duration and score."
  static let outOfTime = "The phone had no more time for the check; it will be tried again."
  static let bluetoothOffTitle = "Bluetooth is off"
  static let bluetoothOffBody = "Without Bluetooth nobody near you is noticed. Switch it on."
  static let exposureTitle = "You may have been exposed"
  static let exposureBody = "Open the app to see when, and what to do now."
  static let simulatedError = "The server of the health authority cannot be reached."

  static func notScheduled(_ reason: String) -> String {
    "The next check could not be scheduled: \(reason)"
  }
}
