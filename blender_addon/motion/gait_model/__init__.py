"""The gait model: walk, pace, trot, canter and gallop of any four-legged skeleton along any plan, uncaptured."""
