package ring

func f4() { f5() }
