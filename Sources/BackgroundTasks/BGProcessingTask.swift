/// A run of minutes.
open class BGProcessingTask: BGTask {}
