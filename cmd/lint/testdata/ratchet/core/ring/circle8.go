package ring

func f8() { f0() }
