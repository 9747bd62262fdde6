/// The numbers of a simulated radio link, of the size that phones show in a room.
public enum AirModel {
  /// The power all phones of a town send with, in dBm; what they state in their metadata.
  public static let transmitPower: Int8 = -15
  /// What is lost over the first metre, in decibels.
  public static let lossAtOneMetreDecibels = 45.0
  /// How fast more is lost with distance: 2 in free space, more among people.
  public static let exponent = 2.4
  /// How far a single reading may lie from the model, in decibels either way.
  public static let spreadDecibels = 3
  /// The weakest signal a phone can make out, in dBm.
  public static let sensitivity = -100.0
}
