/// One export: whose keys, how often, how many to a file, and where its files lie.
///
/// A server has several: Documentation/Exports.md 1. What is said here holds for periods that are
/// closed from now on; a closed file keeps the rules it was closed by.
public struct ExportConfiguration: Hashable, Sendable {
  /// Where the files lie, in Google's layout `{root}/{start}-{end}-00001.zip`; empty for the seed
  /// contract's, whose names stand alone. No two exports have the same.
  public var filenameRoot: String
  /// The region that the files name.
  public var region: String
  /// Whose keys go in: those of any of these regions.
  public var inputRegions: Set<String>
  /// Whose keys stay out, even where they are of an input region too.
  public var excludedRegions: Set<String> = []
  /// What becomes of people who travel.
  public var travellers = Travellers.likeEverybody
  /// Seconds of one file's period; divides a day.
  public var periodSeconds = 14_400
  /// Keys that a file holds at least, padding included, where it holds any.
  public var minimumKeys = 1_000
  /// How many keys beyond the minimum may be added at random.
  public var paddingRange = 100
  /// Keys that a file holds at most; a period of more is split.
  public var maximumKeysPerFile = KeyServerLimit.keysPerFileMax

  /// An export of `inputRegions`, or of `region` alone; the other values may be changed afterwards.
  public init(filenameRoot: String, region: String, inputRegions: Set<String>? = nil) {
    self.filenameRoot = filenameRoot
    self.region = region
    self.inputRegions = inputRegions ?? [region]
  }
}

extension ExportConfiguration {
  /// What an export does with the keys of people who agreed to their going to other countries.
  public enum Travellers: String, Hashable, Sendable, CaseIterable {
    /// They count where they were uploaded, like every other key.
    case likeEverybody
    /// They alone go in.
    case only
    /// They stay out.
    case excluded
    /// They go in whatever their region, beside the keys of the input regions.
    case fromAnywhere
  }

  /// Whose keys go in.
  var filter: KeyFilter {
    KeyFilter(
      inputRegions: inputRegions, excludedRegions: excludedRegions, travellers: travellers)
  }

  var period: ExportPeriod { ExportPeriod(seconds: periodSeconds) }

  /// What the other side of the configuration has to change; nil where every promise can be kept.
  var fault: String? {
    let day = 86_400
    let counts = 0...KeyServerLimit.keysPerFileMax
    guard periodSeconds > 0, day % periodSeconds == 0 else {
      return "exportPeriodSeconds must divide a day."
    }
    guard counts.contains(minimumKeys), counts.contains(paddingRange) else {
      return "minimumKeys and paddingRange must be 0 to \(KeyServerLimit.keysPerFileMax)."
    }
    guard (1...KeyServerLimit.keysPerFileMax).contains(maximumKeysPerFile),
      minimumKeys + paddingRange <= maximumKeysPerFile
    else {
      return
        "maximumKeysPerFile must be 1 to \(KeyServerLimit.keysPerFileMax) and hold the padding."
    }
    guard Self.isRoot(filenameRoot) else {
      return "filenameRoot must be at most \(KeyServerLimit.filenameRootBytesMax) letters, digits,"
        + " '-' or '_'."
    }
    return inputRegions.isEmpty ? "inputRegions must name a region." : nil
  }

  /// One step of a path that no reader takes for another, or nothing.
  private static func isRoot(_ text: String) -> Bool {
    text.utf8.count <= KeyServerLimit.filenameRootBytesMax
      && text.utf8.allSatisfy { byte in
        let letter = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }
}
