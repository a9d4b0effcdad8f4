import { render } from 'preact'
import { App } from './shell/app.tsx'
import 'uplot/dist/uPlot.min.css'
import './style/base.css'
import './style/frame.css'
import './style/parts.css'
import './style/jobs.css'
import './style/tools.css'
import './style/overview.css'
import './style/files.css'
import './style/workflows.css'

const place = document.querySelector('#app')
if (place !== null) render(<App base={document.documentElement.dataset['base'] ?? ''} />, place)
