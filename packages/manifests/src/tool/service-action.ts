export type ServiceAction = 'job_result' | 'job_cancel' | 'output_read' | 'output_search' | 'search_tools' | 'call_tool'
