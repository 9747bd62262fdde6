/// The parts of a log; each begins with its name alone on a line.
enum LogSection: String {
  case preamble = ""
  case flags = "Flags:"
  case advertisements = "Advertisement records:"
  case sightings = "Sighting records:"
}
