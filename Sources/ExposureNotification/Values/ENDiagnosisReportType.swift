/// The basis of a diagnosis.
@frozen public enum ENDiagnosisReportType: UInt32, Sendable {
  /// Not stated.
  case unknown = 0
  /// A laboratory test.
  case confirmedTest = 1
  /// A doctor's diagnosis.
  case confirmedClinicalDiagnosis = 2
  /// The user's own report.
  case selfReported = 3
  /// A contact of a contact; reserved.
  case recursive = 4
  /// Withdrawn.
  case revoked = 5
}

/// The infectiousness of a diagnosed user on the day of an exposure.
@frozen public enum ENInfectiousness: UInt32, Sendable {
  /// Not infectious: the exposure does not count.
  case none = 0
  /// Average.
  case standard = 1
  /// Above average.
  case high = 2
}

/// The variant of concern of the virus.
@frozen public enum ENVariantOfConcernType: UInt32, Sendable {
  /// Not stated.
  case typeUnknown = 0
  /// Vaccines work against it.
  case type1 = 1
  /// It spreads very easily.
  case type2 = 2
  /// It causes severe disease.
  case type3 = 3
  /// Vaccines do not work against it.
  case type4 = 4
}

/// The confidence in the calibration of a beacon's transmit power.
@frozen public enum ENCalibrationConfidence: UInt8, Sendable {
  /// Not calibrated.
  case lowest = 0
  /// Calibrated for the average of the manufacturer's models.
  case low = 1
  /// Calibrated for a similar model.
  case medium = 2
  /// Calibrated for this model.
  case high = 3
}
