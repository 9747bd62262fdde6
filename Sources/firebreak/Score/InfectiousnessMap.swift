import ExposureNotification
import Foundation

/// The map from days since the first symptoms to infectiousness, as JSON can write it.
enum InfectiousnessMap {
  /// The day that stands for one nobody knows; Apple's number for it works too.
  static let unknown = "unknown"

  /// The map as the framework takes it; nil where a day is no whole number.
  static func numbers(_ map: [String: Int]) -> [NSNumber: NSNumber]? {
    var numbers: [NSNumber: NSNumber] = [:]
    for (name, infectiousness) in map {
      guard let day = name == unknown ? ENDaysSinceOnsetOfSymptomsUnknown : Int(name) else {
        return nil
      }
      numbers[NSNumber(value: day)] = NSNumber(value: infectiousness)
    }
    return numbers
  }
}
