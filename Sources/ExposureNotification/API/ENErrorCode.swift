extension ENError {
  /// The errors, with Apple's numbers.
  public enum Code: Int, Sendable, CaseIterable {
    /// Something failed and nobody knows why.
    case unknown = 1
    /// What was passed makes no sense.
    case badParameter = 2
    /// The app may not use exposure notification.
    case notEntitled = 3
    /// The person said no.
    case notAuthorized = 4
    /// This device or API version cannot do it.
    case unsupported = 5
    /// The manager was invalidated.
    case invalidated = 6
    /// The radio is off.
    case bluetoothOff = 7
    /// The disk is full.
    case insufficientStorage = 8
    /// Exposure notification is switched off.
    case notEnabled = 9
    /// The calls came in a wrong order.
    case apiMisuse = 10
    /// A mistake of the framework.
    case `internal` = 11
    /// Too little memory.
    case insufficientMemory = 12
    /// Called too often.
    case rateLimited = 13
    /// Not possible on this device.
    case restricted = 14
    /// A key file is not valid, or nobody known signed it.
    case badFormat = 15
    /// The sealed data cannot be read now.
    case dataInaccessible = 16
    /// Nobody knows yet whether the person travelled.
    case travelStatusNotAvailable = 17
  }
}

extension ENError.Code {
  /// Lets `catch ENError.notAuthorized` match an error of that code.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? ENError)?.code == code
  }

  /// What happened and what to do about it.
  var sentence: String {
    switch self {
    case .unknown:
      "Something failed inside exposure notification; try again."
    case .badParameter:
      "A parameter is out of its range; correct the call."
    case .notEntitled:
      "The app lacks the exposure notification entitlement; add it."
    case .notAuthorized:
      "The person has not allowed this; it can be allowed in the settings."
    case .unsupported:
      "This is not supported here; use another API version or install a device."
    case .invalidated:
      "The manager was invalidated; make a new one."
    case .bluetoothOff:
      "Bluetooth is off; switch it on."
    case .insufficientStorage:
      "The disk is full; make room and try again."
    case .notEnabled:
      "Exposure notification is off; switch it on first."
    case .apiMisuse:
      "The call came at a wrong time; activate the manager first."
    case .internal:
      "The framework failed; report it."
    case .insufficientMemory:
      "There is too little memory; try again with less."
    case .rateLimited:
      "Called too often in 24 hours; try again later."
    case .restricted:
      "Exposure notification is restricted on this device."
    case .badFormat:
      "A key file is damaged or not signed by this region; download it again."
    case .dataInaccessible:
      "The stored data cannot be read now; unlock the device or check its disk."
    case .travelStatusNotAvailable:
      "The travel status is not known yet; ask again later."
    }
  }
}

// Each code also under Apple's short name: `ENError.notEnabled` is `ENError.Code.notEnabled`.
extension ENError {
  /// Something failed and nobody knows why.
  public static var unknown: Code { .unknown }
  /// What was passed makes no sense.
  public static var badParameter: Code { .badParameter }
  /// The app may not use exposure notification.
  public static var notEntitled: Code { .notEntitled }
  /// The person said no.
  public static var notAuthorized: Code { .notAuthorized }
  /// This device or API version cannot do it.
  public static var unsupported: Code { .unsupported }
  /// The manager was invalidated.
  public static var invalidated: Code { .invalidated }
  /// The radio is off.
  public static var bluetoothOff: Code { .bluetoothOff }
  /// The disk is full.
  public static var insufficientStorage: Code { .insufficientStorage }
  /// Exposure notification is switched off.
  public static var notEnabled: Code { .notEnabled }
  /// The calls came in a wrong order.
  public static var apiMisuse: Code { .apiMisuse }
  /// A mistake of the framework.
  public static var `internal`: Code { .internal }
  /// Too little memory.
  public static var insufficientMemory: Code { .insufficientMemory }
  /// Called too often.
  public static var rateLimited: Code { .rateLimited }
  /// Not possible on this device.
  public static var restricted: Code { .restricted }
  /// A key file is not valid, or nobody known signed it.
  public static var badFormat: Code { .badFormat }
  /// The sealed data cannot be read now.
  public static var dataInaccessible: Code { .dataInaccessible }
  /// Nobody knows yet whether the person travelled.
  public static var travelStatusNotAvailable: Code { .travelStatusNotAvailable }
}
