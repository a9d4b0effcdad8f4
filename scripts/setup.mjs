/** Installs and builds what is missing, and starts nothing. */
import { build, checkNode, installDependencies } from './checkout.mjs'

checkNode()
installDependencies()
build()
