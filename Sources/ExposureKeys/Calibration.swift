/// The calibration of a phone's radio, which makes the attenuations of different models comparable.
///
/// Bluetooth Specification 1.2.2, "Associated Encrypted Metadata": a sender states its transmit power and
/// how reliable it is; a receiver corrects the signal strengths that its antenna measures.
public struct Calibration: Hashable, Sendable {
  /// The transmit power in dBm that the phone states in its beacons.
  public let transmitPower: Int8
  /// The correction in dB that is added to each received signal strength.
  public let receiverCorrection: Int8
  /// The reliability of the transmit power, also stated in the beacons.
  public let confidence: CalibrationConfidence

  /// Creates a calibration; use it for a radio that was measured, or without a correction for a test.
  public init(
    transmitPower: Int8, receiverCorrection: Int8 = 0, confidence: CalibrationConfidence = .lowest
  ) {
    self.transmitPower = transmitPower
    self.receiverCorrection = receiverCorrection
    self.confidence = confidence
  }
}

/// The reliability of a transmit power, with the numbers of the metadata.
public enum CalibrationConfidence: UInt8, Sendable, CaseIterable {
  /// Not calibrated.
  case lowest = 0
  /// The mean of the manufacturer's models.
  case low = 1
  /// Measured for a similar model.
  case medium = 2
  /// Measured for this model.
  case high = 3
}

extension Calibration {
  /// The calibration of a phone of an unknown model: the mean of all listed models.
  public static let unknownModel = mean(of: CalibratedModel.all, .lowest)

  /// Finds the calibration of a phone model in the published list. Upper and lower case do not matter.
  ///
  /// A listed model has high confidence. If the list has only phones of the manufacturer with the same
  /// device name or the same model name, their mean has medium confidence, and the mean of all phones of
  /// the manufacturer low confidence. For an unknown manufacturer it returns `unknownModel`.
  ///
  /// - Parameters:
  ///   - manufacturer: such as `Google`.
  ///   - model: the name of the model, such as `Pixel 4`.
  ///   - device: the internal name, such as `flame`, which distinguishes variants of a model. Nil if it is
  ///     not known: then a model that is listed once is found.
  public static func of(
    manufacturer: String, model: String, device: String? = nil
  ) -> Calibration {
    let (manufacturer, model) = (manufacturer.lowercased(), model.lowercased())
    let device = device?.lowercased()
    let phones = CalibratedModel.all.filter { $0.manufacturer.lowercased() == manufacturer }
    let namesakes = phones.filter { $0.model.lowercased() == model }
    let exact = namesakes.filter { device == nil || $0.device.lowercased() == device }
    if exact.count == 1 { return mean(of: exact, .high) }
    let relatives = phones.filter {
      $0.model.lowercased() == model || $0.device.lowercased() == device
    }
    if !relatives.isEmpty { return mean(of: relatives, .medium) }
    return phones.isEmpty ? unknownModel : mean(of: phones, .low)
  }

  /// The rounded mean of `models`, which must not be empty.
  private static func mean(
    of models: [CalibratedModel], _ confidence: CalibrationConfidence
  ) -> Calibration {
    func mean(_ values: [Int8]) -> Int8 {
      let sum = values.reduce(0) { $0 + Double($1) }
      return Int8((sum / Double(values.count)).rounded(.toNearestOrAwayFromZero))
    }
    return Calibration(
      transmitPower: mean(models.map(\.transmitPower)),
      receiverCorrection: mean(models.map(\.receiverCorrection)), confidence: confidence)
  }
}
